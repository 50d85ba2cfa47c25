# shellcheck shell=bash disable=SC2016,SC2154,SC2317
# What happens to a machine with kstall over the years, on top of run: kernels come and go through apt.

# --- what is made once ---

# The newer kernel of a suite, and where it is from.
newer_suite() {
	case $suite in
	forky) echo experimental ;;
	*) echo "$suite-backports" ;;
	esac
}

newer_packages() { [ "$suite" = forky ] && echo linux-headers-amd64 || echo linux-image-amd64 linux-headers-amd64; }

# What else Debian builds of the suite's own kernel.
flavours() { [ "$suite" != trixie ] || echo rt cloud; }

flavour_packages() { flavours | tr ' ' '\n' | sed 's/.*/linux-image-&-amd64 linux-headers-&-amd64/'; }

# kernels_to_come: they lie in the layer as packages, with apt's lists of that day. A mirror need not have them all.
kernels_to_come() {
	# shellcheck disable=SC2046 # a list
	in_layers "$cache/layer" sh -c '
		mkdir -p /etc/apt/sources.list.d
		list=/etc/apt/sources.list.d/$1.list
		echo "deb $0 $1 main" >$list
		apt-get -o Acquire::Check-Valid-Until=false -o APT::Update::Error-Mode=any update &&
			apt-get install -y --no-install-recommends --download-only -t "$@" || { rm $list; apt-get update; }' \
		"$(mirror)" "$(newer_suite)" $(newer_packages) || return
	# shellcheck disable=SC2046 # a list
	[ -z "$(flavours)" ] ||
		in_layers "$cache/layer" apt-get install -y --no-install-recommends --download-only $(flavour_packages)
}

# --- steps ---

# installed_kernels: one a line
installed_kernels() { here ls /lib/modules | sort; }

# add_kernels DESC apt's arguments…: installs them and says which are new in $added
add_kernels() {
	local before
	before=$(installed_kernels)
	t "$1" here apt-get install -y --no-install-recommends "${@:2}"
	cp "$work/log" "$work/apt.log"
	added=$(comm -13 <(echo "$before") <(installed_kernels))
	t "... apt and dpkg are in order" here sh -c 'apt-get check && [ -z "$(dpkg --audit)" ]'
}

# complete KVER: DKMS has built each module that this kernel can have
complete() {
	built_for "$1" || return
	here bash -c '
		kernelver=$0 kernel_source_dir=/lib/modules/$0/build
		cd /usr/src/kstall-* && . ./dkms.conf
		for m in "${BUILT_MODULE_NAME[@]}"; do modinfo -k "$0" -F vermagic $m; done' "$1" >"$work/vermagic" || return
	sort -u "$work/vermagic"
	[ -s "$work/vermagic" ] && ! grep -v "^$1 " "$work/vermagic"
}

# is_supported KVER: it is not newer than the newest that README.md promises. The archive has the newest there is.
is_supported() { [ "$(printf '%s.999\n%s\n' "${all_kernels##* }" "$1" | sort -V | tail -n 1)" = "${all_kernels##* }.999" ]; }

# judge KVER: what a result of that kernel is reported with, t or warn
judge() { if is_supported "$1"; then echo t; else echo warn; fi; }

# upgrade: to the newer kernel, as apt does it
upgrade() {
	local newer new
	newer=$(newer_suite)
	if ! here ls "/etc/apt/sources.list.d/$newer.list" >/dev/null 2>&1; then
		skip "apt installs the kernel of $newer" "the mirror does not have it"
		return
	fi
	# shellcheck disable=SC2046 # a list
	add_kernels "apt installs the kernel of $newer" -t "$newer" $(newer_packages)
	new=$added
	$(judge "$new") "... DKMS has built all modules for $new" complete "$new"
}

# A module that does not compile, on a kernel to come. Of the others one will do.
broken_module() {
	local k=6.50.0-4-amd64
	fake $k
	here sh -c 'cd /usr/src/kstall-* && cp -a . /root/sources && rm -rf drm* ib* io_* mm* && echo "#error planted by the test" >>iommu_trace/main.c'
	t "a module that does not compile: the kernel's installation succeeds" kernel_hook postinst $k
	says "... and says which, and why" "^kstall: iommu_trace does not compile for kernel $k, and is left out: .*planted by the test"
	here sh -c 'ls "/lib/modules/$0/updates/dkms"; dkms status -k "$0"' $k >"$work/log" 2>&1
	t_last "... the other one is installed" test "$(cut -d. -f1 "$work/log" | head -1) $(grep -c ': installed$' "$work/log") $(wc -l <"$work/log")" = "aer_trace 1 2"
	t "... kstall-doctor says it, too" here sh -c '
		mkdir -p /tmp/m/proc/sys/kernel /tmp/m/usr && echo "$0" >/tmp/m/proc/sys/kernel/osrelease
		ln -s /lib /var /tmp/m && ln -s /usr/src /usr/share /usr/lib /tmp/m/usr
		kstall-doctor --root /tmp/m | tee /tmp/report
		grep "^  FAIL  iommu_trace: does not compile for $0, .*planted by the test" /tmp/report' $k
	t "... when the kernel goes, so do they" here sh -c 'run-parts --arg="$0" /etc/kernel/prerm.d && ! find "/lib/modules/$0" | grep ko' $k
	here sh -c 'rm -rf /usr/src/kstall-*/* && cp -a /root/sources/. /usr/src/kstall-* && rm -rf /root/sources'
	unfake $k
}

# Kernels of the same release: they are installed beside the suite's own.
add_flavours() {
	local k
	[ -n "$(flavours)" ] || return 0
	# shellcheck disable=SC2046 # a list
	add_kernels "apt installs the kernels for $(flavours)" $(flavour_packages)
	for k in $added; do
		t "... DKMS has built the modules for $k" complete "$k"
	done
}

# experimental: whether the next kernel will be a problem; a warning, as nobody runs it yet
experimental() {
	local desc="all modules compile for the kernel of experimental" before k
	before=$(installed_kernels)
	if ! here ls /etc/apt/sources.list.d/experimental.list >/dev/null 2>&1; then
		skip "$desc" "the mirror does not have it"
	elif ! here apt-get install -y --no-install-recommends -t experimental linux-headers-amd64 >"$work/log" 2>&1; then
		skip "$desc" "$(grep -m 1 -E '^E:|^Error' "$work/log" || echo "apt failed")"
	elif k=$(comm -13 <(echo "$before") <(installed_kernels)) && [ -z "$k" ]; then
		skip "$desc" "it is not newer than $kver"
	elif complete "$k" >"$work/complete" 2>&1; then
		ok "$desc, $k"
	else
		skip "$desc, $k" "$(grep -m 1 -o 'kstall: .*' "$work/log" || tail -n 1 "$work/complete")"
	fi
}

# boot_each KVER…: and use what was built for it
boot_each() {
	local k
	make_payload
	for k; do
		guest "$k" kernel.sh
	done
}

# later: what comes after the installation
later() {
	local kernels
	if [ "$suite" = forky ]; then
		experimental
		return
	fi
	kernels=$(installed_kernels)
	upgrade
	add_flavours
	# shellcheck disable=SC2046 # a list
	boot_each $(comm -13 <(echo "$kernels") <(installed_kernels))
	remove_old
}

# The kernel that was there first goes, the others stay.
remove_old() {
	t "apt removes the first kernel" here sh -c 'apt-get purge -y "linux-image-$0" "linux-headers-$0"' "$kver"
	t "... with it, its modules" here sh -c '[ ! -e "/lib/modules/$0" ] && ! dkms status | grep -F "$0"' "$kver"
	for k in $(installed_kernels); do
		$(judge "$k") "... those for $k stay" complete "$k"
	done
}
