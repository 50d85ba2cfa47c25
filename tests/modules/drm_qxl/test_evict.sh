#!/usr/bin/env bash
# description: a real driver on TTM, qxl: evictions name the program whose buffers do not fit
# shellcheck source=../drm_sched/lib.sh
. ../drm_sched/lib.sh

modprobe qxl 2>/dev/null
card=$(find /sys/class/drm/card*/device/driver -maxdepth 0 -lname '*/qxl' -printf '%h\n' 2>/dev/null | head -1)
[ -n "$card" ] || skip_all "no qxl GPU"
node=/dev/dri/$(basename "$(dirname "$card")")
bdf=$(basename "$(readlink -f "$card")")
plan 7

evict=ttm_bo_evict
trace $evict

# 15 buffers of 4 MiB fit into the 64 MiB there are
run out ./alloc "$node" 8 4
t_eq "8 buffers fit: no eviction" "$(ev_n $evict)" 0

run out ./alloc "$node" 48 4
# the others are the console's and what the driver makes for itself
ours='f["bytes"] == 4194304'
t_range "48 buffers: at least those that do not fit are evicted" "$(ev_n $evict "$ours")" 32 1000
t_eq "each of the program's" "$(ev_n $evict "$ours && f[\"owner_tgid\"] == $(said pid) && f[\"owner_comm\"] == \"alloc\"")" "$(ev_n $evict "$ours")"
t_eq "by the program, on its device" "$(ev_n $evict "f[\"tgid\"] == $(said pid) && f[\"dev\"] == \"$bdf\" && f[\"result\"] == 0")" "$(ev_n $evict)"
t_eq "out of the GPU's memory, into the system's" "$(ev_get $evict from | sort -u | xargs) $(ev_get $evict to | sort -u | xargs)" "vram system"
t_eq "each took its time" "$(ev_n $evict 'f["duration_ns"] > 0')" "$(ev_n $evict)"
t_no_losses
