#!/usr/bin/env bash
# What make check runs, and CI (docs/check.md says why in this order). Steps that do not
# measure the machine run beside each other, where none writes what another reads; what
# a step prints is kept in bin/check and shown when it fails. Live tests and the score
# have the machine for themselves.
set -euo pipefail
cd "$(dirname "$0")/.."
# The Makefile says with what flags all is compiled, once for all.
[ "${CGO_ENABLED:-}" = 0 ] || { echo "$0: run it by make: its flags are the Makefile's" >&2; exit 2; }
go=${GO:-go}
mkdir -p bin/check
rm -f bin/check/failed

# step NAME COMMAND… runs it, says how long it took, and notes that it failed.
step() {
	local name="$1" began=$SECONDS
	shift
	if "$@" >"bin/check/$name.log" 2>&1; then
		echo "ok    $name $((SECONDS - began)) s"
	else
		echo "$name" >>bin/check/failed
		sed "s/^/$name: /" "bin/check/$name.log"
		echo "FAIL  $name $((SECONDS - began)) s: make $name"
	fi
}
target() { step "$1" "${MAKE:-make}" --no-print-directory "$1"; }
# The runs of the score that came out right in the second try only are kept beside the
# flaky tests (tools/testsum), with the line that says how many there were.
keep_tries() {
	local to=${SNAG_FLAKES:-${XDG_CACHE_HOME:-$HOME/.cache}/snag/flakes} outcome="passed alone" commit try key
	grep -q '^score-short$' bin/check/failed 2>/dev/null && outcome="failed"
	commit=$(git describe --always --dirty --abbrev=12 --exclude='*')
	mkdir -p "$to"
	for try in "bin/score-short/$SEED"/*.try1.json; do
		[ -e "$try" ] || continue
		key=$(basename "$try" .try1.json)
		cp "${try%.json}"* "$to/"
		{
			printf 'test: score-short %s\noutcome: %s\nrun begun: %s\ncommit: %s\n\n' "$key" "$outcome" "$CHECK_BEGUN" "$commit"
			grep -F "$key" bin/check/score-short.log
		} >"$to/score-short-$key-$CHECK_BEGUN.txt"
	done
	echo "$CHECK_BEGUN $commit $(grep -E '^[0-9]+ of [0-9]+ runs were right' bin/check/score-short.log || echo 'score-short had no result')" >>"$to/runs.txt"
}
# Nothing goes on upon what failed.
good() { [ ! -e bin/check/failed ] || { echo "make check: failed: $(paste -sd ' ' bin/check/failed)"; exit 1; }; }

if [ "${1:-}" != --after-setup ]; then
	tools/setup.sh
	echo "ok    setup $SECONDS s"
fi
# From here on nothing may be downloaded: what setup missed must fail, on every machine.
export GOPROXY=off npm_config_offline=true PIP_NO_INDEX=1

# The packages of others do not read what is generated meanwhile.
others() {
	local form='{{if not (and .Module .Module.Main)}}{{if not .ForTest}}{{.ImportPath}}{{end}}{{end}}'
	"$go" list -deps -test -f "$form" ./... | grep -vE '\.test$|^(unsafe|C)$|/internal/|^vendor/' | xargs "$go" build
}
{ target lint-build; step others others; } &
{ target fmt-check; target generate-check; target ui-check; } &
wait
good
target build
step compile "$go" build ./...
good
target lint &
target docs-check &
wait
good

# What is only sampled is drawn by one seed.
export SEED=${SEED:-$(date +%s)}
echo "make check: samples are drawn by SEED=$SEED"
export CHECK_BEGUN
CHECK_BEGUN=$(date -u +%Y%m%dT%H%M%SZ)
began=$SECONDS
BUILT_FOR_TESTS=$PWD/bin tools/test.sh || echo test >>bin/check/failed
echo "test: $((SECONDS - began)) s"
good
began=$SECONDS
"${MAKE:-make}" --no-print-directory score-short 2>&1 | tee bin/check/score-short.log || echo score-short >>bin/check/failed
keep_tries
echo "score-short: $((SECONDS - began)) s"
good
echo "make check: passed in $((SECONDS / 60)) min $((SECONDS % 60)) s"
