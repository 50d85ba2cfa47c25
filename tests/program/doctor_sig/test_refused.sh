#!/usr/bin/env bash
# description: an unsigned module under module.sig_enforce=1 is named, with the commands that help
# timeout: 300
# once: doctor_integrity asks each kernel
# requires: python3 bpftrace
. ../../lib.sh
. ../doctor/lib.sh
. ../doctor/refused.sh
plan 8

t_refused "module.sig_enforce=1" "Key was rejected by service"
t_says "the state of the kernel" '^  note  module.sig_enforce: on: only modules signed with a key the kernel trusts$' '^  ok    tracefs: '
t_key
