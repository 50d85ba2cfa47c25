#!/usr/bin/env bash
# description: every module loads, every event is armed and disarmed, every module goes, and nothing of it stays
# tier1: all
# takes: 21
. ../../lib.sh

mapfile -t modules < <(our_modules)
for module in gpu_sched ttm drm_ttm_helper ib_uverbs nvme; do modprobe "$module"; done # what events would wait for
mk_instance smoke
plan $((${#modules[@]} * 6))

events_in() { awk -v what="$2" '$1 == "event" && $0 ~ what { print $2 }' "/sys/kernel/debug/$1/status"; }
nothing_armed() { ! grep -qE ' state=(armed|waiting-for|allocated)' "/sys/kernel/debug/$1/status"; }
left_of() {
	grep -hE "\[$1\]|$1" /sys/kernel/debug/kprobes/list "$TRACEFS/enabled_functions" "$TRACEFS/set_event" /proc/modules
	ls -d "/sys/kernel/debug/$1" "$TRACEFS/events/$2" 2>/dev/null
}

for module in "${modules[@]}"; do
	load "$module"
	system=$(system_of "$module")
	wrong='' armed=0
	for event in $(events_in "$module" 'state=(idle|failed)'); do
		ev_enable "$system/$event" || wrong+=" $event:refused"
		state=$(status_field "$module" event "$event" state)
		[[ $state == armed || $state == waiting-for:* ]] || wrong+=" $event:$state"
		[ "$state" != armed ] || armed=$((armed + 1))
		ev_disable "$system/$event"
	done
	events_in "$module" state=absent | sed "s/^/$module: this kernel has no /" | diag
	t_eq "$module: each event can be armed" "$wrong" ""
	t_range "$module: events that wait for nobody" "$armed" 1 100
	t_eq "$module: absent events say why" "$(grep ' state=absent' "/sys/kernel/debug/$module/status" | grep -vc ' reason=".\+"')" 0
	t_ok "$module: nothing is armed once they are disabled" wait_until 30 nothing_armed "$module"
	t_ok "$module: it goes" unload "$module"
	t_eq "$module: nothing of it stays" "$(left_of "$module" "$system")" ""
done
