#!/usr/bin/env bash
# description: one version in all files, which the changelog has; what CONTRIBUTING.md names is there
# once: it asks the tree
# host: it asks the tree
# tier1: 6.12
. ../../lib.sh
cd ../../..
plan 5

version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"$/\1/p' dkms.conf)
t_eq "the version of each module is that of dkms.conf" \
	"$(grep -h '^MODULE_VERSION(' -- */main.c tests/modules/core/main.c | sort -u)" "MODULE_VERSION(\"$version\");"
t_eq "... and of each package" \
	"$(sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog) $(sed -n 's/^\* .* - \([0-9.]*\)-[0-9]*$/\1/p' packaging/rpm/kstall.spec | head -n 1)" \
	"$version $version"
t_eq "... of the doctor" "$(tools/kstall-doctor --version)" "kstall-doctor $version"
t_ok "CHANGELOG.md has it" grep -qx "## $version" CHANGELOG.md

# named: what CONTRIBUTING.md has in backquotes and in commands, as far as it is a file or a target
named() {
	grep -oE '(scripts|tests|Documentation|packaging|debian)/[A-Za-z0-9_./-]*[A-Za-z0-9_]' CONTRIBUTING.md | while read -r path; do
		[ -e "$path" ] || echo "$path"
	done
	grep -oE '\bmake [a-z][a-z-]*' CONTRIBUTING.md | sort -u | while read -r _ target; do
		grep -qE "^($target:|\.PHONY:.* $target\b)|^	.* $target( |$)" Makefile || echo "make $target"
	done
}
t_eq "CONTRIBUTING.md names what is there" "$(named)" ""
