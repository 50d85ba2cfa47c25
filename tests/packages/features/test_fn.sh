#!/usr/bin/env bash
# description: an argument by its name is the right one, of its type; a declaration that the kernel's header contradicts does not compile
# once: it asks a header of the tree
# host: it asks a header of the tree
# tier1: 6.12
. ../../lib.sh
cc=${CC:-cc}
command -v "$cc" >/dev/null || skip_all "no compiler"
plan 11

work=$(mktemp -d)
at_exit rm -rf "$work"
include=$PWD/../../../include
cd "$work" || exit
mkdir linux
echo '#define static_assert(expr, ...) _Static_assert(expr, __VA_ARGS__)' >linux/build_bug.h
cat >linux/compiler.h <<-'END2'
	#define __same_type(a, b) __builtin_types_compatible_p(typeof(a), typeof(b))
	#define ___PASTE(a, b) a##b
	#define __PASTE(a, b) ___PASTE(a, b)
END2
cat >linux/ptrace.h <<-'END2'
	struct pt_regs { unsigned long arg[6]; };
	static inline unsigned long regs_get_kernel_argument(struct pt_regs *regs, unsigned int n) { return regs->arg[n]; }
END2
# A "header of the kernel", and a probe's registers: above a narrow argument is what happens to be there.
cat >head.c <<-'END2'
	#include <stdbool.h>
	#include <stdio.h>
	#include <kstall/fn.h>
	struct qp;
	int modify(struct qp *qp, int mask, unsigned char port, bool flag, unsigned long addr, const char *name);
	struct ops { int (*poll)(struct qp *qp, int n); };
END2
cat >right.c <<-'END2'
	#include "head.c"
	KSTALL_FN(int, modify, struct qp *, qp, int, mask, unsigned char, port, bool, flag, unsigned long, addr, const char *, name);
	KSTALL_CHECK_FN(modify, modify);
	KSTALL_FN(int, poll, struct qp *, qp, int, n);
	KSTALL_CHECK_FN(poll, *KSTALL_OP(const struct ops, poll));
	KSTALL_FN(void, last, void *, one);

	int main(void)
	{
		struct pt_regs regs = { { 0x1000, 0xffffffff80000007, 0xabcdef12, 0x7700, 0x8000000000000001, (unsigned long)"six" } };

		printf("%p %d %u %d %lx %s\n", (void *)kstall_arg(&regs, modify, qp), kstall_arg(&regs, modify, mask),
		       kstall_arg(&regs, modify, port), kstall_arg(&regs, modify, flag), kstall_arg(&regs, modify, addr),
		       kstall_arg(&regs, modify, name));
		printf("%d %p\n", kstall_arg(&regs, poll, n), kstall_arg(&regs, last, one));
		return 0;
	}
END2
compiles() { "$cc" -Wall -Werror -I. -I"$include" -o out "$1" 2>err; }
# refused DECLARATION FUNCTION: how the compiler ends, and what it says
refused() {
	printf '#include "head.c"\nKSTALL_FN(%s);\nKSTALL_CHECK_FN(%s);\nint main(void) { return 0; }\n' "$1" "$2" >wrong.c
	compiles wrong.c
	echo "$? $(grep -om1 "[a-z]*() is declared otherwise by this kernel" err)"
}

t_ok "declarations that are right compile" compiles right.c
t_eq "each argument, of its type" "$(./out | xargs)" "0x1000 -2147483641 18 0 8000000000000001 six -2147483641 0x1000"
no="1 modify() is declared otherwise by this kernel"
t_eq "two exchanged" "$(refused "int, modify, struct qp *, qp, unsigned char, port, int, mask, bool, flag, unsigned long, addr, const char *, name" "modify, modify")" "$no"
t_eq "one of another width" "$(refused "int, modify, struct qp *, qp, int, mask, unsigned char, port, bool, flag, unsigned int, addr, const char *, name" "modify, modify")" "$no"
t_eq "one too few" "$(refused "int, modify, struct qp *, qp, int, mask, unsigned char, port, bool, flag, unsigned long, addr" "modify, modify")" "$no"
t_eq "another result" "$(refused "void, modify, struct qp *, qp, int, mask, unsigned char, port, bool, flag, unsigned long, addr, const char *, name" "modify, modify")" "$no"
# Where only some headers have it.
declared() { printf '#include "head.c"\nKSTALL_FN(%s);\nKSTALL_CHECK_DECLARED(%s);\nint main(void) { return 0; }\n' "$1" "$2" >wrong.c; compiles wrong.c; }
t_ok "a header need not have it" declared "int, absent, int, n" absent
t_ok "... what it has may be the same" declared "int, modify, struct qp *, qp, int, mask, unsigned char, port, bool, flag, unsigned long, addr, const char *, name" modify
declared "int, modify, struct qp *, qp, int, mask" modify
t_eq "... and nothing else" "$? $(grep -om1 "conflicting types for .modify" err | tr -dc 'a-z ')" "1 conflicting types for modify"
t_eq "an operation" "$(refused "int, poll, struct qp *, qp, unsigned int, n" "poll, *KSTALL_OP(const struct ops, poll)")" "1 poll() is declared otherwise by this kernel"
echo 'int f(struct pt_regs *regs) { return kstall_arg(regs, poll, mask); }' | cat right.c - >wrong.c
compiles wrong.c
t_eq "a name that it has not" "$? $(grep -c "no member named .mask" err)" "1 1"
