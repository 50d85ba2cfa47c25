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
	local of=$1
	[ "${2-}" = small ] || of+='|full'
	sed -nE "s/#.*//; s/^($of): *//; s/ +\$//; /^[a-z0-9.+-]+\$/p" "$vm/packages" | sort
}

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

# debian SUITE DIR VARIANT PACKAGES [MORE]: makes DIR/root, or makes it anew if it is not what is asked for, nor has the packages
# MORE; DIR/root.stamp says what it is. VARIANT as mmdebstrap has it; PACKAGES, one a line. Nobody replaces it while DIR/use.lock is
# held.
# INITRD=No: Debian's own initrd is never booted.
debian() {
	local suite=$1 dir=$2 options=("--variant=$3" "${debian_options[@]}") packages=$4 stamp is archive
	stamp=$(stamp_of "$3" "$packages")
	is=$(cat "$dir/root.stamp" 2>/dev/null) || true
	[ "$is" != "$stamp" ] && [ "$is" != "$(stamp_of "$3" "${5-}")" ] || return 0
	need mmdebstrap util-linux
	say "# making $dir/root (a few minutes)"
	rm -rf --one-file-system "$dir/root.new"
	archive=$(mirror) || exit
	INITRD=No mmdebstrap "${options[@]}" --include="${packages//$'\n'/,}" "$suite" "$dir/root.new" "$archive" \
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
