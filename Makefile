# SPDX-License-Identifier: GPL-2.0
#
# kstall: out-of-tree kernel modules. `make help` says what can be done.

KDIR	?= /lib/modules/$(shell uname -r)/build
PREFIX	?= /usr/local
# Warnings are errors. DKMS says 0: the compiler of next year may warn about
# something new, and that must not leave a node without its modules.
WERROR	?= 1

# Ask the kernel's headers (a cached answer takes a few ms), then build. What
# the caller chose for kbuild has to hold for the questions too.
choices	= $(foreach v,ARCH CC CROSS_COMPILE LLVM,\
	$(if $(filter command,$(firstword $(origin $v))),'$v=$($v)'))
features = scripts/features/run $(1) '$(KDIR)' $(choices)

.PHONY: modules modules_install install install-scripts uninstall clean \
	features check test demo bench help

modules:
	@features=$$($(call features)) && \
	$(MAKE) -C $(KDIR) M=$(CURDIR) \
		KSTALL_FEATURES="$$features" KSTALL_WERROR=$(WERROR) modules

# Where INSTALL_MOD_PATH says, as for the kernel's own.
modules_install: modules
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules_install

features:
	@$(call features,-t)

# With DKMS the modules follow the kernel's updates.
install: install-scripts
ifneq ($(shell command -v dkms),)
	scripts/dkms-install
else
	$(MAKE) modules_install
	depmod $(if $(INSTALL_MOD_PATH),-b $(INSTALL_MOD_PATH)) \
		$$(cat $(KDIR)/include/config/kernel.release)
endif

# What a person runs: scripts/io_uring_lat.bt becomes kstall-io_uring_lat.
install-scripts:
	@for f in $(wildcard scripts/*.bt); do \
		install -D -m 755 $$f \
			$(DESTDIR)$(PREFIX)/bin/kstall-$$(basename $$f .bt) || exit; \
	done

uninstall:
	rm -f $(patsubst scripts/%.bt,$(DESTDIR)$(PREFIX)/bin/kstall-%,$(wildcard scripts/*.bt))
	! command -v dkms >/dev/null || scripts/dkms-install -r

# Not kbuild's: the headers that were built against may be gone.
clean:
	rm -rf .features
	@find . -name .git -prune -o -type f \( -name '*.o' -o -name '*.ko' \
		-o -name '*.mod' -o -name '*.mod.c' -o -name '.*.cmd' \
		-o -name '.*.d' -o -name '*.o.d' -o -name modules.order \
		-o -name Module.symvers \) -exec rm -f {} +

check:
	@scripts/check '$(KDIR)' $(choices)

test:
	@exec tests/vm/run $(if $(KERNEL),KERNEL='$(KERNEL)') $(if $(TEST),TEST='$(TEST)')

demo:
	@exec tests/vm/demo $(if $(MODULE),MODULE='$(MODULE)')

bench:
	@exec tests/vm/bench

help:
	@echo 'make                    build the modules for the running kernel'
	@echo 'make KDIR=<headers>     ... for another kernel'
	@echo 'make DIRS="<dir> ..."   ... only these modules (tests have some, too)'
	@echo 'make install            install them and the tools, by DKMS when present'
	@echo 'make modules_install    only the modules, below INSTALL_MOD_PATH'
	@echo 'make uninstall          remove what install installed'
	@echo 'make demo [MODULE=...]  a tour in a virtual machine'
	@echo 'make test [KERNEL=6.12] [TEST=io_uring]'
	@echo '                        boot the kernels and run the tests'
	@echo 'make bench              what a hook costs, in instructions'
	@echo 'make check              W=1, sparse, checkpatch, shellcheck'
	@echo 'make features           what differs in this kernel (HAVE_*)'
	@echo 'make clean'
