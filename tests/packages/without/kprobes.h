/* SPDX-License-Identifier: GPL-2.0 */
/* Read after a kernel's own configuration: one that has no kprobes. */
#undef CONFIG_KPROBES
#undef CONFIG_KPROBES_ON_FTRACE
#undef CONFIG_KRETPROBES
#undef CONFIG_KRETPROBE_ON_RETHOOK
#undef CONFIG_OPTPROBES
#undef CONFIG_RETHOOK
