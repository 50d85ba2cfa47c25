# SPDX-License-Identifier: GPL-2.0
"""
The ways in which code is broken. An operator is a function that finds its sites in a file's text; a site is a tuple of edits
(begin, end, new text).

Sites lie in code that is compiled: comments are blanked out first, and what an #if may leave out. No operator adds or removes
a line, so that line numbers in objects stay as they are.
"""

import re

C, BT, YML = "c", "bt", "yml"

# What is compiled on each machine that the tests run on.
TAKEN = re.compile(r"#\s*(if !defined\(_\w+_H\) \|\||ifndef _\w+_(H|TYPES)$|"
                   r"ifdef (KSTALL_FLEET|CONFIG_(X86|PERF_EVENTS|CGROUPS|NUMA|SMP))$)")
TURNED = {">=": "<", "<": ">=", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}


# --- what of a file is looked at; offsets stay ---

def blank(text):
    return re.sub(r"[^\n]", " ", text)


def without_comments(text):
    def keep(m):
        return blank(m[0]) if m[0].startswith("/") else m[0]
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', keep, text, flags=re.S)


def without_strings(text):
    return re.sub(r'"((?:\\.|[^"\\\n])*)"', lambda m: '"' + blank(m[1]) + '"', text)


def without_choices(text):
    """without what stands between #if and #endif, if that is not taken everywhere"""
    lines, taken = [], []
    for line in text.splitlines(keepends=True):
        directive = re.match(r"#\s*(if|else|elif|endif)", line)
        if directive:
            if directive[1] == "if":
                taken.append(bool(TAKEN.match(line.rstrip())))
            elif directive[1] == "endif":
                taken.pop()
            else:
                taken[-1] = False
        lines.append(line if all(taken) and not directive else blank(line))
    return "".join(lines)


def only_expressions(text):
    """of rules for Prometheus: what is behind expr:, with the lines that go on with it"""
    lines, inside = [], None
    for line in text.splitlines(keepends=True):
        indent = len(line) - len(line.lstrip())
        begins = re.match(r"\s*expr:", line)
        if begins:
            inside = indent
        elif inside is not None and indent <= inside:
            inside = None
        lines.append(line if inside is not None and not line.lstrip().startswith("#") else blank(line))
    return "".join(lines)


def code_of(name, text):
    if name.endswith(".yml"):
        return only_expressions(text)
    return without_choices(without_comments(text)) if name.endswith((".c", ".h")) else without_comments(text)


def kind_of(name):
    return YML if name.endswith(".yml") else BT if name.endswith(".bt") else C


# --- helpers ---

def replaced(code, pattern, new, group=0):
    """a site a match: @group of it becomes @new, which may be a function of the match"""
    for m in re.finditer(pattern, code, re.M):
        text = new(m) if callable(new) else m.expand(new)
        if text != m[group]:
            yield ((m.start(group), m.end(group), text),)


def swapped(a, b, group):
    return ((a.start(group), a.end(group), b[group]), (b.start(group), b.end(group), a[group]))


def neighbours(code, pattern, group, apart):
    """matches at most @apart characters from the next, whose @group differs: exchanged"""
    found = list(re.finditer(pattern, code, re.M))
    for a, b in zip(found, found[1:]):
        if b.start() - a.end() <= apart and a[group] != b[group]:
            yield swapped(a, b, group)


def conditions(code):
    """(begin, end) of what is in the parentheses of each if"""
    for m in re.finditer(r"\bif \(", code):
        depth, at = 1, m.end()
        while depth and at < len(code):
            depth += {"(": 1, ")": -1}.get(code[at], 0)
            at += 1
        yield m.end(), at - 1


# --- the operators ---

def exchange(code):
    """two fields of an event, of the same type and assigned one after the other, are exchanged"""
    for event in re.finditer(r"^KSTALL_TRACE_EVENT\(.*?^\);", code, re.M | re.S):
        types = dict((name, kind) for kind, name in re.findall(r"__field\((\w+), (\w+)\)", event[0]))
        found = list(re.finditer(r"__entry->(\w+) = ([^;]+);", event[0]))
        for a, b in zip(found, found[1:]):
            if types.get(a[1]) == types.get(b[1]) in ("u64", "u32", "s32") and a[2] != b[2]:
                yield tuple((event.start() + begin, event.start() + end, new) for begin, end, new in swapped(a, b, 2))


def name(code):
    """two neighbours in a table of names are exchanged"""
    for macro in re.finditer(r"^#define \w+_show_\w+\(val\)(?:[^\n]*\\\n)*[^\n]*", code, re.M):
        for site in neighbours(macro[0], r'\{ (?:\w+), "([^"]+)" \}', 1, 12):
            yield tuple((macro.start() + begin, macro.start() + end, new) for begin, end, new in site)
    yield from neighbours(code, r'\[KS_\w+\] = "(\w+)"', 1, 4)
    yield from neighbours(code, r'@\w+\[\d+\] = "(\w+)"', 1, 4)


def row(code):
    """what two neighbours in a table of events say is exchanged: their layer, or when they are recorded"""
    yield from neighbours(code, r'OWN\("\w+", "\w+", "\w+", KS_\w+,\s*(KS_\w+),', 1, 120)
    yield from neighbours(code, r'EVENT\(\w+, "\w+", "(\w+)",', 1, 200)
    yield from neighbours(code, r'\{ "\w+", "\w+", (?:NULL|"\w+"), (KS_REC_\w+(?:, \w+)?) \}', 1, 4)


def lost(code):
    """every fourth event is lost"""
    yield from replaced(without_strings(code), r"^\t+(trace_\w+(?<!_enabled))\(",
                        r"if (({ static atomic_t nth; atomic_inc_return(&nth) & 3; })) \1", 1)


def counter(code):
    """a counter is never incremented"""
    yield from replaced(without_strings(code), r"^\t+((?:this_cpu_inc|atomic_inc|kstall_inflight_unmatched)\([^;{}]*\)|"
                        r"[\w()*]+(?:->|\.)[\w>.\[\]-]*\+\+);", "(void)0", 1)


def total(code):
    """a sum keeps what was added last"""
    yield from replaced(without_strings(code), r"^\t+[\w\[\]]+(?:->|\.)[\w>.\[\]-]* (\+=) ", "=", 1)


def unarmed(code):
    """a hook that an event needs is not armed for it"""
    for event in re.finditer(r"KSTALL_EVENT\(\w+,\s*([^,.]*)", code):
        for hook in re.finditer(r"BIT_ULL\(\w+\)", event[1]):
            at = event.start(1)
            yield ((at + hook.start(), at + hook.end(), "0ULL"),)


def release(code):
    """what was begun is not ended, or not waited for"""
    yield from replaced(without_strings(code), r"^\t+((?:unregister_\w+|\w+_disarm|\w*synchronize_\w+|flush_work|cancel_\w+)"
                        r"\([^;{}]*\));", "(void)0", 1)


def turned(code):
    """a comparison is turned round"""
    code = without_strings(code)
    for begin, end in conditions(code):
        for m in re.finditer(r" (>=|<=|<|>|==|!=) ", code[begin:end]):
            yield ((begin + m.start(1), begin + m.end(1), TURNED[m[1]]),)
    yield from replaced(code, r" (<|>) \w+ \? ", lambda m: TURNED[m[1]], 1)
    yield from replaced(code, r"(!)strcmp\(", "!!", 1)


def predicate(code):
    """a condition of a probe, or in it, is turned round"""
    yield from replaced(without_strings(code), r"args->\w+ (>=|<=|<|>|==|!=) ", lambda m: TURNED[m[1]], 1)


def unit(code):
    """a time has the wrong unit; not how long it is slept until the next look"""
    code = re.sub(r".*\busleep\(.*", lambda m: blank(m[0]), without_strings(code))
    yield from replaced(code, r"div_u64\((\w[\w>.-]*), NSEC_PER_USEC\)", r"\1")
    yield from replaced(code, r" \* (?:NSEC_PER_MSEC|NSEC)\b", " * 1")
    yield from replaced(code, r"(?<=[\w)]) / (?:1000\b|1e9|NSEC\b|\(s64\)NSEC\b)(?! *%)", " / 1")


def identity(code):
    """who, or on what device, is not told"""
    code = without_strings(code)
    yield from replaced(code, r"\.who = (&?\w[\w>.-]*)", "&kstall_nobody", 1)
    yield from replaced(code, r"\.dev = (?!NULL)([^,{};\n]+)(?=[,;]| \})", "NULL", 1)
    yield from replaced(code, r"\b__entry->(?:pid|tgid|cgroup_id) = ([^;]+);", "0", 1)


def option(code):
    """an option or a setting is ignored"""
    yield from replaced(code, r"case '\w':\n\t+(o->[^;]+|\w+\([^;]*optarg\));\n\t+break;", "(void)0", 1)
    yield from replaced(code, r"if \(c == '\w'\)\n\t+(\w[^;]+);", "(void)0", 1)
    yield from replaced(code, r'strcmp\(key, "\w+"\)\) \{\n\t+([^;]+);', "(void)0", 1)
    yield from replaced(code, r"^\t+([\w>.-]+ = o->\w+);", "(void)0", 1)


def share(code):
    """a share is ten times too large"""
    yield from replaced(without_strings(code), r"\(double\)(?=\w)", "10 * (double)")
    yield from replaced(without_strings(code), r"\b100(\.0)? \* ", r"1000\1 * ")


def rule(code):
    """a rule compares with the wrong number, or with itself"""
    yield from replaced(code, r" (>=|<=|<|>|==) (?=[\d.])", lambda m: TURNED[m[1]], 1)
    yield from replaced(code, r"quantile by \([\w, ]+\) \((0\.5),", "1", 1)
    yield from replaced(code, r" offset \d+[mhd]", "")
    yield from replaced(code, r"\bunless\b", "and")


def label(code):
    """a rule forgets one of the labels that it sums by"""
    yield from replaced(code, r"\bby \((?:\w+, )+\w+(, \w+)\)", "", 1)


# Each with the kinds of files it is for; areas.py says which of them an area gets.
OPERATORS = {
    exchange: C, lost: C, identity: C, unarmed: C, name: (C, BT), row: C, turned: C, unit: (C, BT), option: C, counter: C,
    total: C, share: C, release: C, predicate: BT, rule: YML, label: YML,
}


def sites(operator, file, text):
    if kind_of(file) not in OPERATORS[operator]:
        return []
    return list(operator(code_of(file, text)))


def apply(text, site):
    for begin, end, new in sorted(site, reverse=True):
        text = text[:begin] + new + text[end:]
    return text
