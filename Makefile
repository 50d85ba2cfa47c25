# SPDX-License-Identifier: GPL-2.0
#
# kstall: out-of-tree kernel modules. `make help` says what can be done.

KDIR	?= /lib/modules/$(shell uname -r)/build
PREFIX	?= /usr/local
bin	= $(DESTDIR)$(PREFIX)/bin
lib	= $(DESTDIR)$(PREFIX)/lib/kstall
share	= $(DESTDIR)$(PREFIX)/share
units	= $(DESTDIR)$(PREFIX)/lib/systemd/system
services = $(addprefix $(units)/,$(notdir $(wildcard packaging/systemd/*.service)))
INSTALL_MOD_PATH ?= $(DESTDIR)
# Others than this directory's make read it, too.
override INSTALL_MOD_PATH := $(abspath $(INSTALL_MOD_PATH))
# Warnings are errors. Not for DKMS: the compiler of next year may warn about
# something new, and that must not leave a node without its modules.
WERROR	?= 1

# Ask the kernel's headers (a cached answer takes a few ms), then build. What
# the caller chose for kbuild has to hold for the questions too.
choices	= $(foreach v,ARCH CC CROSS_COMPILE LLVM,\
	$(if $(filter command,$(firstword $(origin $v))),'$v=$($v)')) $(by_clang)
# A kernel that clang has built is clang's: gcc does not know its flags. Who has chosen a compiler knows better, as DKMS does.
is_clangs = $(shell grep -s '^CONFIG_CC_IS_CLANG=y' '$(KDIR)/include/config/auto.conf')
by_clang = $(if $(LLVM)$(filter command environment,$(firstword $(origin CC))),,$(if $(is_clangs),LLVM=1))
features = scripts/features/run $(1) '$(KDIR)' $(choices)

.PHONY: modules dkms modules_install modules_uninstall install install-scripts \
	install-kstall install-nccl install-man uninstall clean deb rpm features check test test-all test-debug test-races \
	test-neighbours coverage demo tour bench bench-report help

modules:
	@features=$$($(call features)) && \
	$(MAKE) -C $(KDIR) M=$(CURDIR) $(by_clang) \
		KSTALL_FEATURES="$$features" KSTALL_WERROR=$(WERROR) modules

# What DKMS calls: each module that compiles.
dkms:
	@MAKE='$(MAKE)' scripts/dkms-build '$(KDIR)' $(choices)

# Where INSTALL_MOD_PATH says, as for the kernel's own. Distributions' headers say
# that modules are to be signed, and have no key: kbuild complains of each module.
# Where that matters, it may.
modules_install: modules
	@$(MAKE) -C $(KDIR) M=$(CURDIR) $(by_clang) INSTALL_MOD_PATH='$(INSTALL_MOD_PATH)' \
		$$(scripts/no-key '$(KDIR)') modules_install

# Debian 12's headers have another release in config/kernel.release. When a
# module is to be removed they may be gone.
utsrelease = $(KDIR)/include/generated/utsrelease.h
release	= $(or $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' $(utsrelease) 2>/dev/null),$(shell uname -r))
MODULES	:= $(patsubst %/Kbuild,%,$(wildcard *_trace/Kbuild))
DEPMOD	= depmod $(if $(INSTALL_MOD_PATH),-b $(INSTALL_MOD_PATH)) $(release)

# What modules_install put there, which in 6.1 and before was extra/. A directory
# that stays would keep apt from removing that of the kernel.
modules_uninstall:
	@cd $(INSTALL_MOD_PATH)/lib/modules/$(release) 2>/dev/null || exit 0; \
	for dir in $(or $(INSTALL_MOD_DIR),updates extra); do \
		[ -d $$dir ] || continue; \
		for m in $(MODULES); do \
			[ ! -d $$dir/$$m ] || { rm -f $$dir/$$m/$$m.ko* && rmdir $$dir/$$m; } || exit; \
		done; \
		rmdir --ignore-fail-on-non-empty $$dir || exit; \
	done; $(DEPMOD)

features:
	@$(call features,-t)

# With DKMS the modules follow the kernel's updates. It is for the machine it
# runs on: what goes elsewhere (DESTDIR, INSTALL_MOD_PATH) does without.
by_dkms	:= $(if $(INSTALL_MOD_PATH),,$(shell command -v dkms))

install:
ifneq ($(by_dkms),)
	@scripts/dkms-install $(if $(filter command,$(firstword $(origin KDIR))),-k '$(release)')
else
	@echo 'kstall: building the modules for kernel $(release) (about a minute)'
	@$(MAKE) --no-print-directory modules_install
	@echo 'kstall: having depmod look at the modules of $(release) (seconds)'
	@$(DEPMOD)
endif
	@echo 'kstall: installing the tools and making their manual pages (seconds)'
	@$(MAKE) --no-print-directory install-scripts install-kstall install-nccl
	@$(if $(INSTALL_MOD_PATH),echo 'kstall: installed below $(INSTALL_MOD_PATH)',cat scripts/next-steps)

# What a person runs. kstall-io_uring_lat is kstall-tool, which finds io_uring_lat.bt
# beside itself. The doctor gets a list of the modules, as it will have no sources to look at.
TOOLS := $(wildcard tools/*.bt) tools/ibv-offsets

install-scripts:
	@install -d $(bin) $(share)/kstall
	@install -m 755 -t $(share)/kstall $(wildcard tools/*.bt) tools/kstall-tool
	@for f in $(wildcard tools/*.bt); do \
		ln -sf ../share/kstall/kstall-tool $(bin)/kstall-$$(basename $$f .bt) || exit; \
	done
	@install -m 755 tools/ibv-offsets $(bin)/kstall-ibv-offsets
	@install -m 755 tools/kstall-doctor $(bin)/kstall-doctor
	@scripts/events-doc --list > $(share)/kstall/modules
	@if command -v python3 >/dev/null; then $(MAKE) --no-print-directory install-man; \
	else echo 'no python3: kstall-doctor and the tools need it to run; no manual pages of theirs'; fi

version	= $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
# Of the release, as scripts/man-pages has it
date	= $(shell date -u +%F -d @$${SOURCE_DATE_EPOCH:-$$(stat -c %Y dkms.conf)})

# The program; without its libraries a line says what it needs, and the rest is installed all the same.
install-kstall:
	@! $(MAKE) -s --no-print-directory -C kstall check-libs || { \
		$(MAKE) -s --no-print-directory -C kstall kstall && \
		install -D -m 755 -t $(bin) kstall/kstall && \
		install -D -m 644 -t $(share)/man/man8 kstall/*.8 && \
		sed -i '2s/"" kstall/"$(date)" "kstall $(version)"/' $(addprefix $(share)/man/man8/,$(notdir $(wildcard kstall/*.8))) && \
		install -D -m 644 kstall/kstall.bash $(share)/bash-completion/completions/kstall && \
		install -D -m 644 -t $(units) packaging/systemd/*.service && \
		sed -i 's:/usr/bin/:$(PREFIX)/bin/:' $(services); }

# NCCL's profiler plugin needs no library but the C library.
install-nccl:
	@$(MAKE) -s --no-print-directory -C kstall/nccl
	@install -D -m 644 -t $(lib) kstall/nccl/libkstall-nccl.so

install-man:
	@man=$$(mktemp -d) && scripts/man-pages $$man && for f in $$man/*; do \
		install -D -m 644 -t $(share)/man/man$${f##*.} $$f || exit; \
	done; s=$$?; rm -rf $$man; exit $$s

uninstall:
	rm -f $(patsubst %,$(bin)/kstall-%,$(basename $(notdir $(TOOLS)))) \
		$(bin)/kstall-doctor $(bin)/kstall
	rm -rf $(share)/kstall $(lib)
	rm -f $(share)/bash-completion/completions/kstall $(share)/man/man8/kstall.8 \
		$(services)
	rm -f $(share)/man/man7/kstall.7 $(share)/man/man8/kstall-*.8 \
		$(patsubst %,$(share)/man/man4/%.4,$(MODULES))
	@! [ -d $(share)/bash-completion/completions ] || rmdir --ignore-fail-on-non-empty \
		$(share)/bash-completion/completions $(share)/bash-completion
	@! [ -d $(units) ] || rmdir --ignore-fail-on-non-empty $(units) $(patsubst %/,%,$(dir $(units)))
ifneq ($(by_dkms),)
	scripts/dkms-install -r
endif
	$(MAKE) modules_uninstall

# Not kbuild's: the headers that were built against may be gone.
clean:
	rm -rf .features
	@find . -name .git -prune -o -type f \( -name '*.o' -o -name '*.ko' \
		-o -name '*.mod' -o -name '*.mod.c' -o -name '.*.cmd' \
		-o -name '.*.d' -o -name '*.o.d' -o -name modules.order \
		-o -name Module.symvers \) -exec rm -f {} +
	@find . -name .git -prune -o -type d -name impl -empty -exec rmdir {} +
	@$(MAKE) -s -C kstall clean
	@$(MAKE) -s -C kstall/nccl clean

# kstall-dkms and kstall-tools, in dist/; needs debhelper and dh-sequence-dkms.
deb:
	@scripts/deb

# kstall-dkms, kstall-tools and kstall-nccl for RHEL, Fedora and the like, in dist/; needs rpmbuild and what the program needs.
rpm:
	@scripts/rpm

check:
	@scripts/check $(if $(BRIEF),-b) '$(KDIR)' $(choices)

test:
	@exec tests/vm/run $(if $(KERNEL),KERNEL='$(KERNEL)') $(if $(TEST),TEST='$(TEST)')

# All tests, in shards; results are kept by commit, so that it goes on where it was interrupted.
test-all:
	@exec tests/vm/all $(if $(SHARD),SHARD='$(SHARD)')

# All tests on a kernel with KASAN, lockdep, kmemleak and others.
test-debug:
	@exec tests/vm/run KERNEL=debug TIER=all $(if $(TEST),TEST='$(TEST)')

test-races:
	@exec tests/vm/run KERNEL=kcsan TIER=all $(if $(TEST),TEST='$(TEST)')

# The kernel's own tests of ftrace, without and with all modules loaded.
test-neighbours:
	@exec tests/vm/neighbours $(if $(KERNEL),KERNEL='$(KERNEL)')

demo tour:
	@exec tests/vm/demo $(filter tour,$@) $(if $(MODULE),MODULE='$(MODULE)') $(if $(KERNEL),KERNEL='$(KERNEL)')

# Of the program, by the tests that need no guest.
coverage:
	@exec scripts/coverage $(TEST)

bench:
	@exec tests/vm/bench $(if $(KERNEL),KERNEL='$(KERNEL)') $(if $(JSON),JSON='$(JSON)')

bench-report:
	@exec tests/vm/bench REPORT=Documentation/cost

help:
	@echo 'make                    build the modules for the running kernel'
	@echo 'make KDIR=<headers>     ... for another kernel'
	@echo 'make DIRS="<dir> ..."   ... only these modules (tests have some, too)'
	@echo 'make install            install them and the tools, by DKMS when present'
	@echo 'make install DESTDIR=<directory>'
	@echo '                        ... below that directory, without DKMS'
	@echo 'make modules_install    only the modules, below INSTALL_MOD_PATH'
	@echo 'make uninstall          remove what install installed'
	@echo 'make deb                build the Debian packages, in dist/'
	@echo 'make rpm                build the RPM packages, in dist/'
	@echo 'make demo               kstall why in a virtual machine'
	@echo 'make tour [MODULE=...]  what each module shows, too'
	@echo 'make test [KERNEL=6.12] [TEST=io_uring]'
	@echo '                        boot the kernels and run the quick tests, or all of one directory'
	@echo 'make test-all [SHARD=...]'
	@echo '                        all tests on all kernels: hours (tests/vm/all --list has the shards)'
	@echo 'make test-debug [TEST=io_uring]'
	@echo '                        the same on a kernel that looks for bugs'
	@echo 'make test-races [TEST=io_uring]'
	@echo '                        the same on a kernel that looks for data races (KCSAN)'
	@echo 'make test-neighbours [KERNEL=6.12]'
	@echo "                        the kernel's own tests of ftrace beside the modules"
	@echo 'make bench [KERNEL=6.12] [JSON=FILE]'
	@echo '                        what listening costs, in instructions'
	@echo 'make bench-report       the same, into Documentation/cost.{txt,json,svg}'
	@echo 'make check              W=1, sparse, checkpatch, shellcheck'
	@echo "make coverage           lines of the program that tests without a guest reach"
	@echo 'make features           what differs in this kernel (HAVE_*)'
	@echo 'make clean'
