#!/usr/bin/env bash
# description: the manual pages have every module, event, parameter, tool and option there is, and nothing else
# requires: python3
# once: it asks the tree
# host: it asks the tree
# tier1: 6.12
. ../../lib.sh
plan 8

cd ../../..
man=$(mktemp -d)
at_exit rm -rf "$man"

t_ok "scripts/man-pages" scripts/man-pages "$man"
t_eq "a page for each module and tool" "$(cd "$man" && printf '%s\n' *)" "$(
	{
		for d in *_trace/Kbuild; do echo "${d%/Kbuild}.4"; done
		for t in tools/*.bt; do t=${t##*/} && echo "kstall-${t%.bt}.8"; done
		printf '%s\n' kstall-doctor.8 kstall-ibv-offsets.8 kstall.7
	} | sort
)"
t_eq "each event has a section" "$(sed -n 's/^\.SS //p' "$man"/*.4 | sort)" "$(scripts/events-doc --list | sed -n 's/^event //p' | sort)"
t_eq "kstall(7) names each command of kstall" "$(sed -n '/^\.SH COMMANDS/,/^\.SH TOOLS/s/^\\fB\(.*\)\\fR(8)$/\1/p' "$man/kstall.7" | sed 's/\\-/-/g' | sort)" \
	"$(cd kstall && for page in *.8; do echo "${page%.8}"; done | sort)"

version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"$/\1/p' dkms.conf)
if make -s -C kstall check-libs >"$man/lacks"; then
	make -s install-kstall DESTDIR="$man/installed" >/dev/null
	t_eq "each page has a date and the version" "$(grep -cE "^\.TH .* \"20[0-9]{2}-[0-9]{2}-[0-9]{2}\" \"kstall $version\"" "$man"/*.[478] "$man"/installed/usr/local/share/man/man8/*.8 |
		grep -v ':1$')" ""
else
	t_skip "each page has a date and the version" "$(<"$man/lacks")"
fi

# .TP, then \fBname\fR (when)
described() { sed -n '/^\.SH PARAMETERS/,/^\.SH FILES/s/^\\fB\(.*\)\\fR (.* time)$/\1/p' "$man/$1.4" | sort; }
wrong=
for module in *_trace/Kbuild; do
	module=${module%/Kbuild}
	[ "$(described "$module")" = "$(modinfo -F parm "$module/$module.ko" | sed 's/:.*//' | sort)" ] || wrong+=" $module"
done
if command -v modinfo >/dev/null; then
	t_eq "each parameter is in its module's page" "$wrong" ""
else
	t_skip "each parameter is in its module's page" "no modinfo"
fi
t_eq "kstall-doctor's page has the options of its --help" "$(sed 's/\\-/-/g' "$man/kstall-doctor.8" | grep -oE -- '--[a-z]+' | sort -u)" \
	"$(tools/kstall-doctor --help | grep -oE -- '--[a-z]+' | grep -vx -- --help | sort -u)"
# Word by word, whatever the order: an installed tool is called kstall-<name>.
t_eq "each tool's page says what its header says" "$(python3 - "$man" <<-'END'
	import collections, glob, os, re, sys

	def plain(word):
	    return re.sub(r"^\W+|\W+$", "", word)

	def words(text):
	    return collections.Counter(w for w in map(plain, text.split()) if w)

	tools = [os.path.basename(t)[:-3] for t in glob.glob("tools/*.bt")]
	for path in sorted(glob.glob("tools/*.bt")) + ["tools/kstall-doctor", "tools/ibv-offsets"]:
	    source = open(path, encoding="utf-8").read()
	    if path.endswith(".bt"):
	        header = re.sub(r"(?m)^ \* ?", "", re.search(r"/\*\n(.*?)\n \*/", source, re.S)[1])
	        name = "kstall-" + os.path.basename(path)[:-3]
	        header = re.sub(rf"(?<![\w/-])(\./)?({'|'.join(tools)})\.bt", r"kstall-\2", header)
	    else:
	        header = re.search(r'"""\n(.*?)\n"""', source, re.S)[1]
	        name = "kstall-" + os.path.basename(path).replace("kstall-", "")
	    header = re.sub(r"(?<![\w-])(\./)?ibv-offsets", "kstall-ibv-offsets", header)
	    header = re.sub(r"(?m)^(USAGE|EXIT STATUS|OVERHEAD|REACH|STABILITY|EXAMPLE): ", "", header)
	    page = re.sub(r"(?m)^\.(\\\"|TH|SH|SS|TP|PP|nf|fi).*", "", open(f"{sys.argv[1]}/{name}.8", encoding="utf-8").read())
	    for roff, char in ("\\-", "-"), ("\\(aq", "'"), ("\\(ga", "`"), ("\\(ha", "^"), ("\\(ti", "~"), ("\\(dq", '"'), ("\\&", ""), ("\\e", "\\"):
	        page = page.replace(roff, char)
	    lost = words(header.replace("`", "")) - words(re.sub(r"\\f[BIR]", "", page).replace("`", ""))
	    if lost:
	        print(name, *lost)
END
)" ""
