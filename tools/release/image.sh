#!/usr/bin/env bash
# image.sh FILE ARCH: skopeo reads the image and checks its digests, and its program runs on a root that is read-only.
set -euo pipefail
if [ "${IN_NAMESPACE:-}" != yes ]; then
	IN_NAMESPACE=yes exec unshare --mount --propagation private "$0" "$@"
fi
file=$1 arch=$2
fail() { echo "image.sh: $file: $*" >&2; exit 1; }
work=$(mktemp -d /tmp/snag-image-XXXXXX)
trap 'umount -l "$work"/root/proc "$work"/root/sys "$work"/root/tmp "$work"/root 2>/dev/null; rm -rf --one-file-system "$work"' EXIT
config=$(skopeo inspect --override-arch "$arch" --config "oci-archive:$file")
jq -e --arg arch "$arch" '.architecture == $arch and .config.Entrypoint == ["/usr/bin/snag"] and (.config.Labels["org.opencontainers.image.revision"] | length == 40)' \
	<<<"$config" >/dev/null || fail "its configuration is $config"
skopeo copy -q --override-arch "$arch" "oci-archive:$file" "dir:$work/image"
layer=$work/image/$(jq -r '.layers[0].digest' "$work/image/manifest.json" | cut -d: -f2)
[ "$(zcat "$layer" | sha256sum | cut -d' ' -f1)" = "$(jq -r '.rootfs.diff_ids[0]' <<<"$config" | cut -d: -f2)" ] || fail "the layer is not the one of the configuration"
mkdir "$work/root"
tar -C "$work/root" -xzf "$layer"
mkdir -p "$work"/root/proc "$work"/root/sys
mount --bind "$work/root" "$work/root"
mount -o remount,bind,ro "$work/root"
mount -t proc proc "$work/root/proc"
mount --rbind /sys "$work/root/sys"
mount -t tmpfs tmpfs "$work/root/tmp"
# Another machine's program is run by qemu, on this machine's kernel: its BPF can't be loaded so.
if [ "$arch" != "$(dpkg --print-architecture)" ]; then
	qemu-aarch64-static "$work/root/usr/bin/snag" version | grep -q "linux/$arch\$" || fail "snag version does not run"
	exit
fi
chroot "$work/root" /usr/bin/snag version | grep -q '^  yes      loading BPF programs' || fail "snag version"
code=0
chroot "$work/root" /usr/bin/snag find --for 3s >"$work/found" 2>&1 || code=$?
case $code in 0 | 10 | 11) ;; *) fail "snag find ended with $code: $(cat "$work/found")" ;; esac
