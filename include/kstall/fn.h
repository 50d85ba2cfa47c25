/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fn.h - arguments of a hooked function by name
 *
 * A probe finds its function's arguments in registers, and the compiler does not know whether it
 * takes the right one. So a hooked function is declared, with types and names in pairs, as
 * SYSCALL_DEFINE() has them. That gives each argument its position and type, and is checked
 * against the kernel's own declaration where a header has one.
 */
#ifndef _KSTALL_FN_H
#define _KSTALL_FN_H

#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/ptrace.h>

/* Of up to six pairs of type and name: the types, members of a structure, positions */
#define __KSTALL_TYPES1(t, a)			t
#define __KSTALL_TYPES2(t, a, ...)		t, __KSTALL_TYPES1(__VA_ARGS__)
#define __KSTALL_TYPES3(t, a, ...)		t, __KSTALL_TYPES2(__VA_ARGS__)
#define __KSTALL_TYPES4(t, a, ...)		t, __KSTALL_TYPES3(__VA_ARGS__)
#define __KSTALL_TYPES5(t, a, ...)		t, __KSTALL_TYPES4(__VA_ARGS__)
#define __KSTALL_TYPES6(t, a, ...)		t, __KSTALL_TYPES5(__VA_ARGS__)

#define __KSTALL_MEMBERS1(t, a)			t a
#define __KSTALL_MEMBERS2(t, a, ...)		t a; __KSTALL_MEMBERS1(__VA_ARGS__)
#define __KSTALL_MEMBERS3(t, a, ...)		t a; __KSTALL_MEMBERS2(__VA_ARGS__)
#define __KSTALL_MEMBERS4(t, a, ...)		t a; __KSTALL_MEMBERS3(__VA_ARGS__)
#define __KSTALL_MEMBERS5(t, a, ...)		t a; __KSTALL_MEMBERS4(__VA_ARGS__)
#define __KSTALL_MEMBERS6(t, a, ...)		t a; __KSTALL_MEMBERS5(__VA_ARGS__)

#define __KSTALL_POSITIONS1(fn, t, a)		__kstall_arg_##fn##_##a
#define __KSTALL_POSITIONS2(fn, t, a, ...)	\
	__kstall_arg_##fn##_##a, __KSTALL_POSITIONS1(fn, __VA_ARGS__)
#define __KSTALL_POSITIONS3(fn, t, a, ...)	\
	__kstall_arg_##fn##_##a, __KSTALL_POSITIONS2(fn, __VA_ARGS__)
#define __KSTALL_POSITIONS4(fn, t, a, ...)	\
	__kstall_arg_##fn##_##a, __KSTALL_POSITIONS3(fn, __VA_ARGS__)
#define __KSTALL_POSITIONS5(fn, t, a, ...)	\
	__kstall_arg_##fn##_##a, __KSTALL_POSITIONS4(fn, __VA_ARGS__)
#define __KSTALL_POSITIONS6(fn, t, a, ...)	\
	__kstall_arg_##fn##_##a, __KSTALL_POSITIONS5(fn, __VA_ARGS__)

#define __KSTALL_NR(t1, a1, t2, a2, t3, a3, t4, a4, t5, a5, t6, a6, nr, ...)	nr
#define __KSTALL_EACH(what, ...)	\
	__PASTE(what, __KSTALL_NR(__VA_ARGS__, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1))

/**
 * KSTALL_FN - declare a function that is hooked
 * @_ret: what it returns
 * @_fn: its name
 * @...: type and name of each argument, as in "struct ib_qp *, qp, int, mask"; without
 *	KSTALL_CHECK_FN() up to the last that is used
 *
 * One to six: x86-64 has no more in registers. A function without arguments needs no KSTALL_FN().
 */
#define KSTALL_FN(_ret, _fn, ...)						\
	_ret __kstall_fn_##_fn(__KSTALL_EACH(__KSTALL_TYPES, __VA_ARGS__)(__VA_ARGS__)); \
	struct __kstall_args_##_fn {						\
		__KSTALL_EACH(__KSTALL_MEMBERS, __VA_ARGS__)(__VA_ARGS__);	\
	};									\
	enum { __KSTALL_EACH(__KSTALL_POSITIONS, __VA_ARGS__)(_fn, __VA_ARGS__) }

/**
 * KSTALL_CHECK_FN - check a KSTALL_FN(), when it is compiled, against the kernel built for
 * @_fn: its name there
 * @_is: the function as a header has it, or *KSTALL_OP(const struct ib_device_ops, poll_cq)
 */
#define KSTALL_CHECK_FN(_fn, _is)						\
	static_assert(__same_type(__kstall_fn_##_fn, _is),			\
		      #_fn "() is declared otherwise by this kernel")

/**
 * KSTALL_CHECK_DECLARED - as KSTALL_CHECK_FN(), where some kernels have no header for it
 * @_fn: its name
 *
 * Declares the function once more. The compiler refuses that if it differs.
 */
#define KSTALL_CHECK_DECLARED(_fn)	extern typeof(__kstall_fn_##_fn) _fn

/* An operation, for KSTALL_CHECK_FN() */
#define KSTALL_OP(_ops, _op)	(((_ops *)NULL)->_op)

/**
 * kstall_arg - an argument of a function, at its entry
 * @_regs: registers at entry
 * @_fn: its name in KSTALL_FN()
 * @_arg: the argument's name there
 *
 * Return: the argument, of its type. What a register holds above a narrower type is undefined, and
 * not looked at.
 */
#define kstall_arg(_regs, _fn, _arg)						\
	(((union {								\
		unsigned long reg;						\
		typeof(((struct __kstall_args_##_fn *)NULL)->_arg) arg;		\
	}) { .reg = regs_get_kernel_argument(_regs, __kstall_arg_##_fn##_##_arg) }).arg)

#endif /* _KSTALL_FN_H */
