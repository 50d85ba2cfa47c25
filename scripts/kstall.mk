# SPDX-License-Identifier: GPL-2.0
#
# Compiler flags of every module here, test modules included. A Kbuild is
#
#	obj-m := foo_trace.o
#	foo_trace-y := foo.o bar.o
#	include $(src)/../scripts/kstall.mk
#
# The tree is found from this file's own path: what $(src) is relative to
# differs between kernels (since 6.13 kbuild runs in the module's directory).

kstall_top := $(patsubst %/scripts/kstall.mk,%,$(lastword $(MAKEFILE_LIST)))

# Not asked for by a kbuild that only cleans.
kstall_features = $(or $(KSTALL_FEATURES),$(error Build from the top directory: \
	make KDIR=<kernel headers> DIRS=<this directory>))

# $(src): define_trace.h includes a module's own events header by name.
# <generated/kstall_features.h>: the answers about this kernel's headers.
ccflags-y += -I$(src) -I$(kstall_top)/include -I$(kstall_features)

# What kbuild's W=1 adds, without W=1 itself: that also runs kernel-doc, which
# not every package of kernel headers has. Older kernels have -Wextra only in
# W=1; the -Wno-* are the ones that newer kernels leave out of it.
ccflags-y += -Wextra -Wunused -Wmissing-declarations -Wmissing-prototypes \
	-Wmissing-format-attribute -Wunused-but-set-variable \
	-Wunused-const-variable -Wold-style-definition \
	-Wno-unused-parameter -Wno-sign-compare -Wno-type-limits \
	-Wno-missing-field-initializers -Wno-shift-negative-value

ifneq ($(KSTALL_WERROR),0)
ccflags-y += -Werror
endif
