#!/usr/bin/env bash
# Runs the remedies of the incidents that need a machine of their own (snag-lab remedy
# --vm) in one.
#   tools/vm/remedy.sh [SUITE]
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/vm/machine.sh

suite=${1:-trixie} d=$cache/${1:-trixie}/remedy
fetch "$suite"
release=$(cat "$cache/$suite/release")
initramfs "$suite" "$release" tools/vm/remedy-init "$modules nf_conntrack sch_fq" "ip tc nft"
rm -rf "$d"
mkdir -p "$d"
nice -n 19 timeout 1500 qemu-system-x86_64 -accel tcg,thread=single -cpu max -smp 2 -m 1024 \
	-nodefaults -no-user-config -display none -no-reboot -net none \
	-serial "file:$d/console" -serial "file:$d/out.tar.gz" \
	-kernel "$cache/$suite/root/boot/vmlinuz-$release" -initrd "$cache/$suite/initrd.gz" \
	-append "console=ttyS0 quiet panic=-1 mitigations=off nokaslr tsc=reliable clearcpuid=112,297" </dev/null ||
	echo "snag vm: the machine did not end in 25 minutes" >&2
tar --warning=no-timestamp -xzf "$d/out.tar.gz" -C "$d" || { tail -20 "$d/console" >&2; exit 1; }
cat "$d/remedies"
[ "$(cat "$d/exit")" = 0 ] || { tail -20 "$d/steps" >&2; exit 1; }
