#!/usr/bin/env bash
# Boots Debian's kernels 5.10 (Debian 11), 6.1 (12) and 6.12 (13) under software
# emulation, one after the other, runs bin/snag in each (tools/vm/init) and checks
# what it said (tools/vm/check). Packages and results stay in .cache/vm.
#   tools/vm/run.sh [SUITE…]     SUITE: bullseye bookworm trixie
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/vm/machine.sh

# boot SUITE RELEASE runs the machine; it ends by itself. Its second serial port is
# a file that gets what init writes: a tar archive of results. The processors take
# turns (thread=single): with a thread each, one was seen to run an int3 of a
# tracepoint's static key that the kernel had taken away by then (text_poke_bp), and
# 6.12 panicked. Without REP_GOOD (112) and ERMS (297, arch/x86/include/asm/
# cpufeatures.h) the kernel clears and copies pages by plain moves: one store of rep
# stos at a time, a huge page took 8 ms emulated.
boot() {
	local d=$cache/$1 release=$2
	rm -rf "$d/out"
	mkdir -p "$d/out"
	nice -n 19 timeout 1500 qemu-system-x86_64 -accel tcg,thread=single -cpu max -smp 2 -m 1024 \
		-nodefaults -no-user-config -display none -no-reboot -net none \
		-serial "file:$d/console.txt" -serial "file:$d/out.tar.gz" \
		-kernel "$d/root/boot/vmlinuz-$release" -initrd "$d/initrd.gz" \
		-append "console=ttyS0 quiet panic=-1 mitigations=off nokaslr tsc=reliable clearcpuid=112,297" </dev/null ||
		echo "snag vm: the machine with $release did not end in 25 minutes" >&2
	if ! tar -xzf "$d/out.tar.gz" -C "$d/out"; then
		echo "snag vm: no results from $release; the end of its console:" >&2
		tail -20 "$d/console.txt" >&2
	fi
}

# extras leaves in a folder what init runs beside snag: tools/vm/inside, and static
# programs, as the machine has neither compiler nor libc. Its cc hands out what was
# compiled here (lab/threadserver).
extras() {
	local d=$1 test name
	rm -rf "$d"
	mkdir -p "$d/bin" "$d/selftest"
	install -m 755 tools/vm/inside "$d/bin/inside"
	# getaddrinfo warns that it needs a libc to find names, which nothing does there.
	if ! { gcc -static -O1 -pthread -o "$d/bin/thread-server" lab/threadserver/c/server.c &&
		gcc -static -O1 -o "$d/bin/uring" probes/syscalls/testdata/uring.c -luring; } 2>"$d.log"; then
		cat "$d.log" >&2
		return 1
	fi
	printf '#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\nexec cp /bin/thread-server "$2"\n' >"$d/bin/cc"
	chmod 755 "$d/bin/cc"
	for test in probes/jvm:TestProgramsWithoutAJVM probes/memory:TestCompaction remedies/knob:TestQdiscsOfModules; do
		name=$(basename "${test%:*}")
		go test -c -ldflags="-s -w" -o "$d/selftest/$name.test" "./${test%:*}"
		echo "^${test#*:}\$" >"$d/selftest/$name.run"
	done
}

suites=("$@")
[ $# -gt 0 ] || suites=(bullseye bookworm trixie)
dirs=()
extras "$cache/extra"
for suite in "${suites[@]}"; do
	fetch "$suite"
	release=$(cat "$cache/$suite/release")
	initramfs "$suite" "$release" tools/vm/init "$modules sch_fq sch_fq_codel" "ip tc nft" "$cache/extra"
	echo "snag vm: running $release ($suite)" >&2
	boot "$suite" "$release"
	dirs+=("$cache/$suite/out")
done
exec go run ./tools/vm/check "${dirs[@]}"
