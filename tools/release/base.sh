# shellcheck shell=bash
# A Debian system for the checks of packages, in a mount and network namespace of the caller's: all mounts end with it.
# To be sourced. It sets root, a folder that is removed at the end.
cache=${XDG_CACHE_HOME:-$HOME/.cache}/snag
base=$cache/chroot-bookworm-1.tar # another number where the list of packages changes
if [ ! -e "$base" ]; then
	mkdir -p "$cache"
	echo "release-check: making a Debian system in $base" >&2
	made=$(mktemp -d /tmp/snag-debootstrap-XXXXXX)
	chmod 755 "$made" # the root of all users inside
	debootstrap --variant=minbase --include=bash-completion,fish,man-db,systemd,zsh bookworm "$made" >"$cache/debootstrap.log" 2>&1 ||
		{ tail -3 "$cache/debootstrap.log" >&2; exit 1; }
	rm -rf "$made"/var/cache/apt/archives/*.deb
	tar -C "$made" -cf "$base.new" .
	mv "$base.new" "$base"
	rm -rf "$made"
fi
if [ "${IN_NAMESPACE:-}" != yes ]; then
	IN_NAMESPACE=yes exec unshare --mount --net --propagation private "$0" "$@"
fi
ip link set lo up
root=$(mktemp -d /tmp/snag-chroot-XXXXXX)
trap 'umount -l "$root"/proc "$root"/sys "$root"/dev 2>/dev/null; rm -rf --one-file-system "$root"' EXIT
tar -C "$root" -xf "$base"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"

fail() { echo "$(basename "$0"): $*" >&2; exit 1; }
# inside COMMAND… in the Debian system.
inside() { LC_ALL=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin chroot "$root" "$@"; }
# says PATTERN COMMAND…: what it prints, on either output, has a line of that pattern.
says() {
	local pattern=$1 out
	shift
	out=$("$@" 2>&1) || fail "$* ended with $?: $out"
	grep -qE -- "$pattern" <<<"$out" || fail "$* does not say \"$pattern\" but: $out"
}
# Links name their target as it is inside: they are there, whatever is here.
there() {
	for path in "$@"; do
		[ -e "$root$path" ] || [ -L "$root$path" ] || fail "$path is missing"
	done
}
gone() {
	for path in "$@"; do
		if [ -e "$root$path" ] || [ -L "$root$path" ]; then fail "$path is left"; fi
	done
}
# everything is what files there are, but what package managers write for themselves.
everything() {
	find "$root" -xdev \( -path "$root/proc" -o -path "$root/sys" -o -path "$root/dev" -o -path "$root/var/lib/dpkg" -o -path "$root/var/lib/rpm" \
		-o -path "$root/var/log" -o -path "$root/var/cache" -o -path "$root/root/.rpmdb" -o -path "$root/run/systemd" \) -prune -o -print | sed "s|^$root||" | sort
}
