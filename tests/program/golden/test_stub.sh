#!/usr/bin/env bash
# description: kstall that was built without what kstall top needs says so, and is as it is otherwise
# host: it builds the program once more
# tier1: 6.12
# once: it does not ask the kernel
# requires: make gcc
. ./lib.sh
top=$here/../../..
make -s -C "$top/kstall" check-libs || skip_all "the program's libraries are missing"
plan 5

# With the objects that are there, but for the one that differs.
cp -a "$top/kstall" "$top/dkms.conf" "$work"
rm -f kstall/kstall kstall/cmd/kstall.o
t_ok "it is built" make -s -C kstall FLEET=no-such-library kstall
stub=$work/kstall/kstall
# all COMMAND…: what it says, and its status
all() { "$@" 2>&1; echo "$?"; }
same "top: what is missing" "$(all "$stub" top --fleet http://127.0.0.1:1)" "kstall: top: kstall was built without libcurl and json-c, which it needs
1"
same "... a wrong option is one all the same" "$(all "$stub" top --flet x)" "$(all "$KSTALL" top --flet x)"
same "... and there is help" "$(all "$stub" top --help; all "$stub" --help)" "$(all "$KSTALL" top --help; all "$KSTALL" --help)"
same "it needs neither library" "$(ldd "$stub" | grep -oE 'lib(curl|json-c)' | sort -u)" ""
