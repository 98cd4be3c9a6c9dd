#!/usr/bin/env bash
# Boots a machine with Debian 12's kernel and its systemd, installs packaging/snag-record.service
# in it as docs/record.md says, and has the recorder started, asked, killed, suspended, put on a
# full disk, restarted and stopped (tools/vm/unit-first). After a reboot it has to run without
# being started (unit-second). Then it judges what the machine printed (tools/vm/unitcheck).
#   tools/vm/unit.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v debootstrap >/dev/null || {
	echo "snag vm: run, as root: apt-get install --no-install-recommends debootstrap" >&2
	exit 1
}
. tools/vm/machine.sh

suite=bookworm d=$cache/unit
fetch $suite
release=$(cat "$cache/$suite/release")

# system leaves a Debian with systemd in .cache/vm/unit-root. What is there is kept.
system() {
	[ -e "$cache/unit-root/done" ] && return
	rm -rf "$cache/unit-root"
	echo "snag vm: fetching a Debian with systemd" >&2
	debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus,iproute2,util-linux,util-linux-extra,kmod,procps \
		$suite "$cache/unit-root" "$(archive '/debian/?$')" >"$cache/unit-root.log" 2>&1 || { tail "$cache/unit-root.log" >&2; return 1; }
	rm -rf "$cache"/unit-root/var/{cache/apt,lib/apt/lists,log}/* "$cache"/unit-root/usr/share/{doc,man,locale}
	touch "$cache/unit-root/done"
}

# disk packs the machine's disk: that Debian, the kernel's modules, snag and the steps.
disk() {
	local r=$d/root
	cp -a "$cache/unit-root" "$r"
	mkdir -p "$r/lib/modules" "$r/var/log/journal" "$r/var/out"
	cp -a "$cache/$suite/root/lib/modules/$release" "$r/lib/modules/"
	install bin/snag bin/snag-lab "$r/usr/local/bin/"
	install -m 644 packaging/snag-record.service tools/vm/unit-steps.service "$r/etc/systemd/system/"
	install -m 644 tools/vm/unit-said "$r/usr/local/lib/"
	install -m 755 tools/vm/unit-first tools/vm/unit-second "$r/usr/local/bin/"
	printf '#!/bin/sh\n[ -d /var/out/first ] && exec unit-second\nexec unit-first\n' >"$r/usr/local/bin/unit-life"
	chmod 755 "$r/usr/local/bin/unit-life"
	ln -s ../unit-steps.service "$r/etc/systemd/system/multi-user.target.wants/"
	ln -s /dev/null "$r/etc/systemd/system/serial-getty@ttyS0.service" # without udev it would wait for its device
	echo recorded >"$r/etc/hostname"
	echo '/dev/vda / ext4 defaults 0 1' >"$r/etc/fstab"
	rm -f "$d/disk"
	truncate -s 2G "$d/disk"
	mke2fs -q -F -t ext4 -d "$r" "$d/disk"
	rm -rf "$r"
}

# buttons NAME presses the power button of the machine 20 s after it printed to its second serial port
# that it sleeps. It ends when the machine has.
buttons() {
	until [ -s "$d/$1.sleeps" ] || [ -e "$d/$1.over" ]; do sleep 1; done
	[ ! -e "$d/$1.over" ] || return 0
	sleep 20
	echo system_powerdown
	until [ -e "$d/$1.over" ]; do sleep 1; done
}

# live NAME SECONDS boots from the disk; what it printed is in the folder NAME. A reboot ends it.
live() {
	echo "snag vm: the $1 life, $release" >&2
	buttons "$1" | {
		nice -n 19 timeout "$2" qemu-system-x86_64 -accel tcg,thread=single -cpu max -smp 2 -m 1024 \
			-nodefaults -no-user-config -display none -no-reboot -net none \
			-serial "file:$d/$1.console" -serial "file:$d/$1.sleeps" -monitor stdio \
			-drive "file=$d/disk,if=none,id=disk,format=raw,cache=unsafe" -device virtio-blk-pci,drive=disk \
			-kernel "$cache/$suite/root/boot/vmlinuz-$release" -initrd "$d/initrd.gz" \
			-append "console=ttyS0 panic=-1 mitigations=off nokaslr tsc=reliable clearcpuid=112,297" >"$d/$1.monitor" ||
			echo "snag vm: the machine did not end in $(($2 / 60)) minutes" >&2
		touch "$d/$1.over"
	}
	# Serial ports have lost their settings after a suspend to memory: results are read from the disk.
	debugfs -R "rdump /var/out/$1 $d" "$d/disk" 2>"$d/$1.debugfs"
	if [ ! -e "$d/$1/dmesg" ]; then
		tail -20 "$d/$1.console" >&2
		exit 1
	fi
}

system
rm -rf "$d"
mkdir -p "$d"
programs="" initramfs $suite "$release" tools/vm/unit-boot "virtio_pci virtio_blk" ""
mv "$cache/$suite/initrd.gz" "$d/initrd.gz"
disk
live first 3000
live second 900
exec go run ./tools/vm/unitcheck "$d"
