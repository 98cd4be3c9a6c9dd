#!/usr/bin/env bash
# What a stranger's recording may try, in its slow forms (SNAG_ATTACK, and the tests with the
# build tag attack): texts that steer a terminal, small files that unpack to gigabytes, tables
# of many rows, and changed rows and bytes (each fuzz target for $1). Prints a table of
# attempts and failures.
set -uo pipefail
cd "$(dirname "$0")/.."
[ "${CGO_ENABLED:-}" = 0 ] || { echo "$0: run it by make: its flags are the Makefile's" >&2; exit 2; }
time=${1:-5m}
mkdir -p bin/attack
bad=0
table="| attack | attempts | failures |
|---|---:|---:|"

# attack NAME COUNT FILE COMMAND…: COUNT prints the attempts that the log FILE tells of.
attack() {
	local name="$1" count="$2" log="bin/attack/$3.log"
	shift 3
	if "$@" >"$log" 2>&1; then
		failures=0
	else
		failures=$(grep -cE '^ +[a-z_]+_test\.go:[0-9]+: .*(raw in|exit|MB$|permission|panic:|took )|Failing input|^panic:' "$log")
		failures=$((failures > 0 ? failures : 1))
		bad=1
	fi
	table+="
| $name | $($count "$log") | $failures |"
	echo "$name: $failures failures (bin/attack/$(basename "$log"))"
}
renderings() { sed -n 's/.* \([0-9]*\) renderings.*/\1/p' "$1" | tail -1; }
bombs() { grep -c 'KB packed' "$1"; }
tables() { grep -c ' judge .* show ' "$1"; }
changed() { sed -n 's/.* \([0-9]*\) renderings of changed.*/\1/p' "$1" | awk '{ n += $1 } END { print n }'; }
passed() { grep -c -- '--- ' "$1"; }
# Of a short time the corpus may take all: its entries are attempts too.
execs() { sed -n 's/.*execs: \([0-9]*\).*/\1/p; s/.*baseline coverage: \([0-9]*\)\/.*/\1/p' "$1" | sort -n | tail -1; }

export SNAG_ATTACK=1
go=${GO:-go}
attack "texts that steer a terminal, as renderings" renderings shown "$go" test ./cmd/snag -run '^TestNothingOfA(Strangers|Servers)Steers' -v -count 1 -timeout 60m
attack "small files that unpack to gigabytes" bombs bombs "$go" test ./cmd/snag -run '^TestBombs$' -v -count 1 -timeout 60m
attack "tables of many rows (QUADRATIC in the log: the bound on CPU time ends it)" tables many "$go" test -tags attack ./cmd/snag -run '^TestManyRows$' -v -count 1 -timeout 60m
attack "recordings and files with changed values" changed changed "$go" test -tags attack ./cmd/snag -run '^TestChanges$' -v -count 1 -timeout 60m
attack "privileges" passed privileges "$go" test ./cmd/snag -run '^(TestNoPrivileges|TestFilesOfOtherUsers)$' -v -count 1
for target in FuzzFields FuzzEdited FuzzRows FuzzWholePath FuzzFiles; do
	attack "$target, $time" execs "$target" "$go" test ./cmd/snag -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 1x -parallel 1 -timeout 60m
done
echo
echo "$table"
exit $bad
