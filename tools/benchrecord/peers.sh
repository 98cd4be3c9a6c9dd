#!/usr/bin/env bash
# Fetches the recorders that snag record is measured beside into the user's cache, each
# once. Debian's packages are unpacked, not installed: nothing starts, and the machine's
# own packages stay as they are. What can't be had is said; its rows stay empty then.
set -euo pipefail
into="${XDG_CACHE_HOME:-$HOME/.cache}/snag/bench-record"
mkdir -p "$into/bin"
PATH="$PATH:$HOME/.cargo/bin"

target=bench-record
# shellcheck source=tools/unpack.sh
. "$(dirname "$0")/../unpack.sh"

[ -e "$into/debian" ] || apt-get update -qq
unpack debian atop sysstat netdata-core netdata-plugins-bash libnetfilter-acct1 prometheus-node-exporter

# below's BPF program crashes the clang 14 of Debian 12 (exitstat.bpf.c); clang 16 compiles it.
if [ ! -x "$into/bin/below" ]; then
	compiler=clang
	if clang --version 2>/dev/null | grep -q 'version 1[0-5]\.'; then
		unpack clang-16 clang-16 libclang-cpp16 libllvm16 libclang-common-16-dev
		compiler="$into/bin/clang-16"
		cat >"$compiler" <<-END
			#!/bin/sh
			export LD_LIBRARY_PATH="$into/clang-16/usr/lib/x86_64-linux-gnu:$into/clang-16/usr/lib/llvm-16/lib"
			exec "$into/clang-16/usr/lib/llvm-16/bin/clang" "\$@"
		END
		chmod +x "$compiler"
	fi
	echo "snag setup: building below for make bench-record (about 5 min)"
	CLANG="$compiler" nice -n 19 cargo install --quiet --locked --version 0.9.0 --root "$into" below || echo "snag setup: below can't be built here" >&2
fi
