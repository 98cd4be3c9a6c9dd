#!/usr/bin/env bash
# Fetches the generators of load that snag load is measured beside into the user's cache, each once. What can't be
# had is said; its rows stay empty then.
#
# wrk2 is in no package. WRK2_SOURCE=FOLDER builds it from a copy of its source (github.com/giltene/wrk2), for which
# it needs gcc, make and OpenSSL's headers (libssl-dev).
set -euo pipefail
into="${XDG_CACHE_HOME:-$HOME/.cache}/snag/bench-load"
mkdir -p "$into/bin"
target=bench-load
# shellcheck source=tools/unpack.sh
. "$(dirname "$0")/../unpack.sh"

[ -e "$into/debian" ] || apt-get update -qq
unpack debian sockperf iperf3 libiperf0 libsctp1

# build NAME MODULE@VERSION PACKAGE builds a program from the Go proxy.
build() {
	[ -x "$into/bin/$1" ] && return
	echo "snag setup: building $1 for make bench-load ($2)"
	(cd "$into" && GOFLAGS='' CGO_ENABLED=0 GOBIN="$into/bin" nice -n 19 "${GO:-go}" install "$3@${2#*@}") ||
		echo "snag setup: $1 can't be built here" >&2
}
# Later versions of fortio need a module that not every Go proxy has (grol.io/grol).
build fortio fortio.org/fortio@v1.65.0 fortio.org/fortio
build ghz github.com/bojand/ghz@v0.93.0 github.com/bojand/ghz/cmd/ghz

# gRPC's C++ core, as Python has it.
if [ ! -e "$into/python" ]; then
	echo "snag setup: fetching grpcio for make bench-load"
	new="$(mktemp -d "$into/.new.XXXXXX")"
	if python3 -m pip install -q --disable-pip-version-check --no-input --target "$new/python" grpcio==1.85.1; then
		mv "$new/python" "$into/python"
	else
		echo "snag setup: grpcio can't be fetched" >&2
	fi
	rm -rf "$new"
fi

if [ ! -x "$into/bin/wrk2" ] && [ -n "${WRK2_SOURCE:-}" ]; then
	echo "snag setup: building wrk2 for make bench-load from $WRK2_SOURCE"
	new="$(mktemp -d "$into/.new.XXXXXX")"
	cp -r "$WRK2_SOURCE" "$new/wrk2"
	if nice -n 19 make -s -C "$new/wrk2" >"$into/wrk2.log" 2>&1; then
		cp "$new/wrk2/wrk" "$into/bin/wrk2"
	else
		echo "snag setup: wrk2 can't be built here: $into/wrk2.log" >&2
	fi
	rm -rf "$new"
fi
[ -x "$into/bin/wrk2" ] || echo "snag setup: wrk2 is in no package; WRK2_SOURCE=FOLDER of its source builds it"
