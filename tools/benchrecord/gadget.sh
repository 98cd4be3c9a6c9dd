#!/bin/sh
# Runs one gadget of Inspektor Gadget that was built here (docs/peers.md says how), and prints a line for each report:
# the time in seconds since 1970, a tab, and the report in JSON.
# It has a mount namespace of its own, for the file systems that ig needs. Where /proc/1 can't be read (a sandbox),
# ig sees this shell there: it asks PID 1 only which namespaces are the host's.
ig="$1" gadget="$2"
shift 2
trap 'trap "" TERM; kill 0; wait; exit 0' INT TERM
{
	# shellcheck disable=SC2016 # the inner shell expands them
	unshare -m sh -c '
		readlink /proc/1/ns/mnt >/dev/null 2>&1 || mount --bind /proc/$PPID /proc/1
		mount -t bpf bpf /sys/fs/bpf
		mount -t tracefs tracefs /sys/kernel/tracing
		mount -t debugfs debugfs /sys/kernel/debug
		exec "$@"' sh "$ig" run "$gadget:local" --verify-image=false --pull never --host -o json "$@" |
		python3 -uc 'import sys, time
for line in sys.stdin: print(f"{time.time():.3f}\t{line}", end="")'
} &
wait
