#!/usr/bin/env bash
# description: the manual pages have every module, event, parameter, tool and option there is, and nothing else
# requires: python3
. ../lib.sh
plan 6

cd ../..
man=$(mktemp -d)
at_exit rm -rf "$man"

t_ok "scripts/man-pages" scripts/man-pages "$man"
t_eq "a page for each module and tool" "$(cd "$man" && printf '%s\n' *)" "$(
	{
		for d in *_trace/Kbuild; do echo "${d%/Kbuild}.4"; done
		for t in scripts/*.bt; do t=${t##*/} && echo "kstall-${t%.bt}.8"; done
		printf '%s\n' kstall-doctor.8 kstall-ibv-offsets.8 kstall.7
	} | sort
)"
t_eq "each event has a section" "$(sed -n 's/^\.SS //p' "$man"/*.4 | sort)" "$(scripts/events-doc --list | sed -n 's/^event //p' | sort)"

# .TP, then \fBname\fR (when)
described() { sed -n '/^\.SH PARAMETERS/,/^\.SH FILES/s/^\\fB\(.*\)\\fR (.* time)$/\1/p' "$man/$1.4" | sort; }
wrong=
for module in *_trace/Kbuild; do
	module=${module%/Kbuild}
	[ "$(described "$module")" = "$(modinfo -F parm "$module/$module.ko" | sed 's/:.*//' | sort)" ] || wrong+=" $module"
done
t_eq "each parameter is in its module's page" "$wrong" ""
t_eq "each has its range and default" "$(modinfo -F parm ./*_trace/*_trace.ko | grep -vE ' \(([0-9]+ to [0-9]+|0 or (more|1)), default [0-9]+\)(;.*)? ?\((uint|ullong|bool)\)$')" ""
t_eq "kstall-doctor's page has the options of its --help" "$(sed 's/\\-/-/g' "$man/kstall-doctor.8" | grep -oE -- '--[a-z]+' | sort -u)" \
	"$(scripts/kstall-doctor --help | grep -oE -- '--[a-z]+' | grep -vx -- --help | sort -u)"
