# shellcheck shell=bash
# Making a Debian of any suite in a directory; on top of lib.sh.

# The archive this machine itself installs from: it is the one known to be reachable.
mirror() {
	local codename uri
	codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
	uri=$(archive_of "$codename")
	# apt knows the codename of an archive from its lists, which a new machine may not have
	[ -n "$uri" ] || { apt-get -qq update >&2 && uri=$(archive_of "$codename"); }
	[ -n "$uri" ] || unable "apt on this machine knows no $codename archive"
	echo "${uri%/}"
}

# shellcheck disable=SC2016 # $(REPO_URI) is apt's
archive_of() { apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $1" | head -1; }

# shellcheck disable=SC2154 # vm: of lib.sh
# suite_packages SUITE [small]: what its guests hold
suite_packages() {
	local of=$1 arch=amd64 from=''
	if is_arm "$1"; then arch=arm64; else of+='|build'; fi
	! is_rt "$1" || arch=rt-$arch
	[ "${2-}" = small ] || of+='|full'
	! is_next "$1" || from='/^linux-(image|headers)-/s,$,/trixie-backports,'
	sed -nE "s/#.*//; s/^($of): *//; s/ +\$//; s/@/$arch/; /^[a-z0-9.+-]+\$/!b; $from; p" "$vm/packages" | sort
}

# cross_packages: what builds for arm64 here: the compiler and the tools are this machine's, the libraries arm64's. The headers come
# by cross_options.
cross_packages() {
	sed -nE 's/^(build|cross): *//; T; /^linux-headers/d; s/^gcc$/gcc-aarch64-linux-gnu/; s/^lib.*-dev$/&:arm64/; p' "$vm/packages" | sort
}

# The package of headers wants an arm64 compiler beside it; what is in it does not.
# shellcheck disable=SC2016 # $1 is the hook's
cross_options=(--architectures=amd64,arm64 --customize-hook='chroot "$1" sh -ec "
	apt-get -qq update
	dependency() { apt-cache depends \$1 | sed -n s/.*Depends:.\\\\\(\$2\\\\\).*/\\\\1/p; }
	headers=\$(dependency linux-headers-arm64:arm64 linux-headers-.*-arm64)
	kbuild=\$(dependency \$headers:arm64 linux-kbuild-[^:]*)
	cd /tmp
	apt-get -qq download \$headers:arm64 \${headers%-arm64}-common \$kbuild
	for deb in *.deb; do dpkg-deb --fsys-tarfile \$deb | tar -x --keep-directory-symlink -C /; done
	rm ./*.deb
"')

# Debian without documentation; a testing suite's Release may count as expired, hence Check-Valid-Until.
debian_options=(
	--aptopt='Acquire::Check-Valid-Until "false"'
	--aptopt='APT::Install-Recommends "false"'
	--dpkgopt='path-exclude=/usr/share/doc/*'
	--dpkgopt='path-exclude=/usr/share/locale/*'
	--dpkgopt=force-unsafe-io
)

# stamp_of VARIANT PACKAGES: of a root file system with these
stamp_of() { printf '%s\n' "--variant=$1" "${debian_options[@]}" "$2" | sha256sum | cut -d' ' -f1; }

# run_programs_of SUITE: has this machine run arm64's programs, if they are that, by QEMU's user emulation: binfmt_misc then knows
# their format
run_programs_of() {
	is_arm "$1" || return 0
	need qemu-user-static binfmt-support arch-test
	[ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ] || update-binfmts --enable qemu-aarch64 ||
		unable "this kernel does not run arm64's programs by QEMU (binfmt_misc)"
}

# debian SUITE DIR VARIANT PACKAGES [MORE]: makes DIR/root, or makes it anew if it is not what is asked for, nor has the packages
# MORE; DIR/root.stamp says what it is. VARIANT as mmdebstrap has it; PACKAGES, one a line. Nobody replaces it while DIR/use.lock is
# held. SUITE-arm64 is one for arm64, SUITE-rt has another kernel, next is trixie with its backports.
# INITRD=No: Debian's own initrd is never booted.
debian() {
	local suite=${1%-*} dir=$2 options=("--variant=$3" "${debian_options[@]}") packages=$4 stamp is archive more=()
	stamp=$(stamp_of "$3" "$packages")
	is=$(cat "$dir/root.stamp" 2>/dev/null) || true
	[ "$is" != "$stamp" ] && [ "$is" != "$(stamp_of "$3" "${5-}")" ] || return 0
	need mmdebstrap util-linux
	! is_arm "$1" || options+=(--architectures=arm64)
	say "# making $dir/root (a few minutes)"
	rm -rf --one-file-system "$dir/root.new"
	archive=$(mirror) || exit
	! is_next "$1" || suite=trixie more=("deb $archive trixie-backports main")
	INITRD=No mmdebstrap "${options[@]}" --include="${packages//$'\n'/,}" "$suite" "$dir/root.new" "$archive" "${more[@]}" \
		>"$dir/root.log" 2>&1 || unable "mmdebstrap failed: $(grep -m1 '^E:' "$dir/root.log") (see $dir/root.log)"
	locked "$dir/use.lock" replace_root "$dir"
	echo "$stamp" >"$dir/root.stamp"
}

# rm stops at what somebody has mounted in there, and mv -T does not move into what rm left.
replace_root() {
	rm -rf --one-file-system "$1/root"
	mv -T "$1/root.new" "$1/root"
}

# in_root ROOT [DIR=PLACE…] -- command…: runs it in that root file system, each DIR at its PLACE, with /proc (objtool of Debian's 7.2
# wants it) and an empty /tmp. The mounts are in a namespace of their own and end with the command, even if it is killed.
in_root() {
	# shellcheck disable=SC2016 # for the inner shell
	unshare --mount --propagation private bash -euc '
		root=$1
		shift
		mount -t proc proc "$root/proc"
		mount -t tmpfs tmpfs "$root/tmp"
		while [ "$1" != -- ]; do
			mkdir -p "$root${1#*=}"
			mount --bind "${1%%=*}" "$root${1#*=}"
			shift
		done
		shift
		exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 chroot "$root" "$@"
	' in_root "$@" </dev/null
}
