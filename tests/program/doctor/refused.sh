# shellcheck shell=bash disable=SC2154
# What the tests in doctor_sig, doctor_integrity and doctor_confidentiality share: on a kernel that refuses our unsigned modules.

# t_refused OPTION SAYS: none of them can be loaded, the doctor knows, and it names the way out
t_refused() {
	local option=$1 says=$2 module=${modules[0]} out
	out=$(modprobe io_uring_trace 2>&1)
	t_eq "modprobe says: $says" "${out##*: }" "$says"
	doctor
	t_eq "not healthy" "$status" 1
	t_each "each module: why it is refused" "^  FAIL  MODULE: is not signed, and $option admits only signed modules: modprobe says \"$says\"$"
	t_says "what to do, on a machine without EFI" '^ +not booted by EFI, this machine has no place for a key' \
		"^ +\\$ sed -i 's/ \\*$option//' /etc/default/grub$" '^ +\$ update-grub && reboot$'

	# the same kernel, on a machine with EFI
	mkdir -p "$fixture"/{proc,sys/firmware/efi/efivars,sys/module/module/parameters,lib/modules,usr/share/kstall,usr/src/kstall-1.0}
	mkdir -p "$fixture/sys/kernel/security"
	cp /sys/kernel/security/lockdown "$fixture/sys/kernel/security/"
	cp /sys/module/module/parameters/sig_enforce "$fixture/sys/module/module/parameters/"
	cp --parents /proc/sys/kernel/osrelease /proc/cmdline /proc/mounts /proc/keys "$fixture"
	printf '\6\0\0\0\1' >"$fixture/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
	echo "module $module" >"$fixture/usr/share/kstall/modules"
	touch "$fixture/usr/src/kstall-1.0/dkms.conf"
	mkdir -p "$fixture/lib/modules/$(uname -r)/updates"
	cp "$(modinfo -n "$module")" "$fixture/lib/modules/$(uname -r)/updates/"
	echo "updates/$module.ko:" >"$fixture/lib/modules/$(uname -r)/modules.dep"
	doctor --root "$fixture"
	t_says "... and with Secure Boot: sign, enroll" '^  ok    secure boot: on$' "^  FAIL  $module: is not signed" \
		'^ +\$ dkms build kstall/1.0 -k [0-9].* --force$' '^ +\$ mokutil --import /var/lib/dkms/mok.pub$' '^ +\$ reboot$'
}

fixture=$(mktemp -d)
at_exit rm -rf "$fixture"

# t_key: a module that is signed is let in only with its key
t_key() {
	local ko file signature
	ko=$(echo "$fixture"/lib/modules/*/updates/*.ko)
	file=$(<"$fixture/proc/keys")
	# of a signature only what the doctor reads of it: commonName, the length of it all, the mark at its end
	signature='0\x82\x01\x02\x06\x03\x55\x04\x03\x0c\x0bkstall test1\x18'
	printf %b "$signature"'\0\0\x02\0\0\0\0\0\0\0\0\x18~Module signature appended~\n' >>"$ko"
	doctor --root "$fixture"
	t_says "signed with an unknown key: enroll it" "^  FAIL  ${modules[0]}: is signed by \"kstall test\", whose key the kernel does not have" \
		'^ +\$ mokutil --import /var/lib/dkms/mok.pub$'
	printf '%s\n%s\n' "$file" "1a2b3c4d I------     1 perm 1f030000     0     0 asymmetri kstall test: 0123456789: X509.rsa 23456789 []" >"$fixture/proc/keys"
	doctor --root "$fixture"
	t_says "... with a known one: it can be loaded" "^  note  ${modules[0]}: installed, not loaded$"
}
