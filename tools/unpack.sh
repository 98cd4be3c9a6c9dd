# shellcheck shell=bash
# For scripts that fetch programs which snag is measured beside. Debian's packages are unpacked, not installed:
# nothing starts, and the machine's own packages stay as they are. $into is the folder in the user's cache, $target
# the make target.

# unpack FOLDER PACKAGE... puts what is in the packages into FOLDER of the cache.
# shellcheck disable=SC2154 # the script that reads this one sets $into and $target
unpack() {
	local to="$into/$1" new
	shift
	[ -e "$to" ] && return
	echo "snag setup: fetching for make $target, unpacked into $to: $*"
	new="$(mktemp -d "$into/.new.XXXXXX")"
	mkdir "$new/debs" "$new/root"
	if (cd "$new/debs" && apt-get -o APT::Sandbox::User=root download -qq "$@") &&
		for deb in "$new"/debs/*.deb; do dpkg -x "$deb" "$new/root" || exit 1; done; then
		mv "$new/root" "$to"
	else
		echo "snag setup: can't fetch: $*" >&2
	fi
	rm -rf "$new"
}
