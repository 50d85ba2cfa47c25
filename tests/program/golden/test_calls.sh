#!/usr/bin/env bash
# description: kstall why says of an ioctl on an accelerator's file what it does, and of any other that it is one
# host: it reads recordings that the test writes
# tier1: 6.12
# once: it does not ask the kernel
# requires: python3
. ./lib.sh
plan 8

table=$here/../../../kstall/engine/ioctls.sh
[ -s "$table" ] || bail "no table"
make_dat calls h200

why() { "$KSTALL" why "$@"; }
json() { why --json "$@"; }
parts_of() { why --json -i "$1" >parts.json && stated --json <parts.json; }

same "each call has its time, as stated" "$(parts_of calls.dat)" "$(stated "$here/calls.txt")"
golden "... with its name and its file" why-calls.want why -i calls.dat --slowest 4
same "the engine says the same of the text" "$("$ENGINE" marker <"$here/calls.txt" | sed 's/"name": "text"/"name": "calls.dat"/')" \
	"$(json -i calls.dat)"
same "three steps of an H200, as stated" "$(parts_of h200.dat)" "$(stated "$here/h200.txt")"
# The README's first picture; "..." stands for lines left out.
picture() { awk '/^    # kstall why -i trace.dat/ { on = 1; next } on && !/^    / { exit } on && !/^    \.\.\.$/ { sub(/^    /, ""); print }' ../../../README.md; }
why -i h200.dat --slowest 1 | sed 's/ *$//' >h200.out
same "the README quotes that answer" "$(cd "$here" && picture | grep -vxFf "$work/h200.out")" ""
t_range "... and quotes some" "$(cd "$here" && picture | wc -l)" 5 30

same "no number stands twice in the table" "$(awk '/^(nvidia|uvm|kfd|uverbs) / { print $1, $2 }' "$table" | sort | uniq -d)" ""

# AMD's numbers are the kernel's: its header says the same, where there is one. Of drm.h, which it may lack, it takes the types.
numbers() {
	printf '#include <stdio.h>\n#include <linux/kfd_ioctl.h>\nint main(void)\n{\n'
	awk '$1 == "kfd" {
		printf "#ifdef AMDKFD_IOC_%s\n\tif (((unsigned int)AMDKFD_IOC_%s & 0xc000ffff) != %s)\n\t\tputs(\"%s\");\n#endif\n", $3, $3, $2, $3
	}' "$table"
	printf '}\n'
}
mkdir drm && echo '#include <linux/types.h>' >drm/drm.h
if [ -e /usr/include/linux/kfd_ioctl.h ] && numbers >numbers.c && "${CC:-cc}" -I. -o numbers numbers.c 2>cc.err; then
	same "AMD's numbers are those of the kernel's header" "$(./numbers)" ""
else
	t_skip "AMD's numbers are those of the kernel's header" "no header, or no compiler"
fi
