# shellcheck shell=bash
# What the test machine's scripts share: where things are, and which suite carries which kernel.

KSTALL_CACHE=${KSTALL_CACHE:-/var/cache/kstall}
vm=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$vm/../.." && pwd)
all_kernels="6.1 6.12 7.2"
arm_kernels="6.12-arm64 7.2-arm64" # only where they are asked for, as next is and 6.12-rt
guests=2 # at a time on this machine

say() { echo "$*" >&2; }
die() { say "$(basename "$0"): $*"; exit 1; }

# unable WHY: it is this machine or its mirror, nothing that is tested; status 3
unable() { say "$(basename "$0"): cannot go on here: $*"; exit 3; }

# is_ours KERNEL: one that ./debug-kernel makes. Not one of those that all means.
is_ours() { [ "$1" = debug ] || [ "$1" = kcsan ]; }

# is_arm KERNEL: one for arm64, and so is all of its root file system; SUITE does as well
is_arm() { [[ $1 == *-arm64 ]]; }

# is_next KERNEL: the newest that Debian's stable release can install: of its backports; all else is that release's
is_next() { [ "$1" = next ]; }

# is_rt KERNEL: Debian's with PREEMPT_RT, or its suite
is_rt() { [[ $1 == *-rt ]]; }

# is_extra KERNEL: what needs no guest is not done for it, as it is for another
is_extra() { is_ours "$1" || is_arm "$1" || is_next "$1" || is_rt "$1"; }

# qemu_of KERNEL: the one of ./emulator that boots it
qemu_of() { if is_arm "$1"; then echo aarch64; else echo x86_64; fi; }

suite_of() {
	case $1 in
	6.1 | bookworm) echo bookworm ;;
	6.12 | trixie) echo trixie ;;
	7.2 | forky) echo forky ;;
	debug | kcsan | next) echo "$1" ;;
	6.12-arm64 | trixie-arm64) echo trixie-arm64 ;;
	7.2-arm64 | forky-arm64) echo forky-arm64 ;;
	6.12-rt | trixie-rt) echo trixie-rt ;;
	*) die "unknown kernel '$1' (there are: $all_kernels $arm_kernels 6.12-rt next)" ;;
	esac
}

kernel_of() {
	case $1 in
	bookworm) echo 6.1 ;;
	trixie) echo 6.12 ;;
	forky) echo 7.2 ;;
	debug | kcsan | next) echo "$1" ;;
	trixie-arm64) echo 6.12-arm64 ;;
	forky-arm64) echo 7.2-arm64 ;;
	trixie-rt) echo 6.12-rt ;;
	*) die "unknown suite '$1'" ;;
	esac
}

# kver SUITE: the full version of the kernel in its root file system
kver() { basename "$KSTALL_CACHE/$1/root/lib/modules"/*; }

# Each checkout builds in a directory of its own, so that two of them can share the root file systems.
build_dir() { echo "$KSTALL_CACHE/$1/build/$(printf %s "$top" | sha1sum | cut -c1-12)"; }

# need PACKAGE…: install on this machine what is missing
need() {
	local p missing=()
	for p; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || missing+=("$p")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	[ "$(id -u)" = 0 ] || unable "needs root, to install ${missing[*]}"
	mkdir -p "$KSTALL_CACHE"
	say "# installing ${missing[*]}"
	local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=600)
	{ "${apt[@]}" install -y --no-install-recommends "${missing[@]}" ||
		{ "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "${missing[@]}"; }
	} >/dev/null 2>"$KSTALL_CACHE/apt.log" || unable "apt cannot install ${missing[*]}: $(grep -m1 '^E:' "$KSTALL_CACHE/apt.log")"
}

# locked FILE command…: one process at a time; says so when it has to wait. Not in a condition: set -e holds for the command.
locked() {
	local file=$1 fd
	shift
	mkdir -p "$(dirname "$file")"
	exec {fd}>"$file"
	flock -n "$fd" || { say "# waiting for $file"; flock "$fd"; }
	"$@"
	exec {fd}>&-
}

# take_slot: waits until one more guest may run on this machine. The place is this process's and its children's, until they end.
# boot takes one, unless its caller has.
take_slot() {
	local i waited=
	[ -z "${KSTALL_SLOT-}" ] || return 0
	while :; do
		for i in $(seq $guests); do
			exec 9>"$KSTALL_CACHE/guest.$i.lock"
			flock -n 9 && export KSTALL_SLOT=$i && return
		done
		[ -n "$waited" ] || say "# waiting for one of the $guests running guests to end"
		waited=1
		sleep 1
	done
}
