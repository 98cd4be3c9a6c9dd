#!/usr/bin/env bash
# Packs a machine for tools/vm/lab: fetches the kernel of a suite and makes an
# initramfs with an init, more modules and commands, and the files of a folder.
# Prints the kernel's path, the initramfs' path and the release, a line each.
#   tools/vm/pack.sh SUITE INIT MODULES COMMANDS EXTRA
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/vm/machine.sh

fetch "$1"
release=$(cat "$cache/$1/release")
for m in $3; do # a word misspelt must not be found out by an incident that fails
	modprobe -d "$cache/$1/root" -S "$release" --show-depends "$m" >/dev/null || {
		echo "snag vm: the kernel $release has no module $m" >&2
		exit 1
	}
done
initramfs "$1" "$release" "$2" "$modules $3" "$4" "$5"
printf '%s\n' "$cache/$1/root/boot/vmlinuz-$release" "$cache/$1/initrd.gz" "$release"
