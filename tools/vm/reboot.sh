#!/usr/bin/env bash
# Boots a machine, has snag apply a plan in it, resets it before anybody confirmed, and
# boots it again: no change may be there any more, and snag must say so.
#   tools/vm/reboot.sh [SUITE]
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/vm/machine.sh

suite=${1:-trixie} d=$cache/${1:-trixie}/reboot
fetch "$suite"
release=$(cat "$cache/$suite/release")
initramfs "$suite" "$release" tools/vm/reboot-init "" "ip"
rm -rf "$d"
mkdir -p "$d"
mv "$cache/$suite/initrd.gz" "$d/first.gz"

# live NAME boots with NAME.gz; what it said is in the folder NAME. A reset ends it.
live() {
	mkdir -p "$d/$1"
	nice -n 19 timeout 600 qemu-system-x86_64 -accel tcg,thread=single -cpu max -smp 1 -m 512 \
		-nodefaults -no-user-config -display none -no-reboot -net none \
		-serial "file:$d/$1.console" -serial "file:$d/$1.tar.gz" \
		-kernel "$cache/$suite/root/boot/vmlinuz-$release" -initrd "$d/$1.gz" \
		-append "console=ttyS0 quiet panic=-1 mitigations=off nokaslr tsc=reliable clearcpuid=112,297" </dev/null ||
		echo "snag vm: the machine did not end in 10 minutes" >&2
	if ! tar --warning=no-timestamp -xzf "$d/$1.tar.gz" -C "$d/$1"; then
		tail -20 "$d/$1.console" >&2
		exit 1
	fi
}

failed=0
# want WHAT COMMAND… says what is not as it should be.
want() {
	local what=$1
	shift
	if ! "$@"; then
		echo "snag vm: reboot: NOT SO: $what" >&2
		failed=1
	fi
}

live first
# The kernel unpacks one archive after the other (Documentation/driver-api/early-userspace/buffer-format.rst).
mkdir -p "$d/disk/var/lib/snag" "$d/disk/etc"
cp -r "$d/first/store" "$d/disk/var/lib/snag/tune"
cp "$d/first/plan.yaml" "$d/disk/etc/"
(cd "$d/disk" && find . | cpio --quiet -o -H newc | gzip -1) | cat "$d/first.gz" - >"$d/second.gz"
live second

is() { [ "$(cat "$d/$1")" = "$2" ]; }
want "apply works" is first/apply.exit 0
want "apply changes the values" test "$(cat "$d/first/applied")" != "$(cat "$d/first/before")"
want "another boot" test "$(cat "$d/first/boot")" != "$(cat "$d/second/boot")"
want "nothing is left of it after the reboot" cmp "$d/first/before" "$d/second/before"
want "status says so" grep -q "the host was booted since, and the changes went with that" "$d/second/status"
want "nobody is said to wait" test -z "$(grep "NOBODY WAITS" "$d/second/status" || true)"
want "it can't be confirmed any more" grep -q "booted since" "$d/second/confirm"
want "confirm fails" is second/confirm.exit 1
want "undo ends it" is second/undo.exit 0
want "undo changes nothing" cmp "$d/first/before" "$d/second/after"
want "the same plan could be applied again" is second/again.exit 0
[ $failed = 0 ] || { tail -n 50 "$d"/first/apply "$d"/second/{status,confirm,undo,again} >&2; exit 1; }
echo "snag vm: after a reset between apply and confirm ($release) nothing was left, and snag said so"
