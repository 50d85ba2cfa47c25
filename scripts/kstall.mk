# SPDX-License-Identifier: GPL-2.0
#
# Compiler flags of every module here, test modules included, and the helpers'
# code for those that use it. A Kbuild is
#
#	include $(src)/../scripts/kstall.mk
#	obj-m := foo_trace.o
#	foo_trace-y := main.o bar.o $(kstall-impl)
#
# Of several modules in one Kbuild only one can have the helpers.
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

# The helpers' code is compiled once for each module that uses it, into the
# module's own directory, as KBUILD_MODNAME differs and nothing is exported.
# kbuild looks for a source only beside its object. So a rule of our own names
# the source; the recipe is kbuild's for .c files, as other Makefiles have it
# (drivers/firmware/efi/libstub). All else is kbuild's own business, since this
# is an object of a module: .cmd files, directories, objtool, sparse, modpost. It
# knows which module by the stem of the rule: that has to be the object's name in
# foo_trace-y, impl/build.o, and is the source's name below include/kstall, too.
kstall-impl := impl/build.o
clean-files += impl

$(obj)/$(kstall-impl): $(obj)/%.o: $(kstall_top)/include/kstall/%.c FORCE
	$(call if_changed_rule,cc_o_c)
	$(call cmd,force_checksrc)
