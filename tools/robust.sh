#!/usr/bin/env bash
# snag find where things are scarce, hidden, full or too many (docs/robustness.md): little
# memory, few descriptors, each subset of capabilities, full disks, signals, crowds. As root,
# some 8 minutes. Prints a table of what each run came to; its exit code is that of the tests.
set -uo pipefail
cd "$(dirname "$0")/.."
[ "${CGO_ENABLED:-}" = 0 ] || { echo "$0: run it by make: its flags are the Makefile's" >&2; exit 2; }
mkdir -p bin/attack
log=bin/attack/robust.log
"${GO:-go}" test -tags robust ./cmd/snag -run '^TestFind(Within|With|Without|By|On|Is)' -v -count 1 -timeout 60m >"$log" 2>&1
code=$?
echo "| situation | exit | first line | MB | s | CPU s | reported |"
echo "|---|---:|---|---:|---:|---:|---:|"
sed -n 's/.*ROBUST |/|/p' "$log"
grep -E '^ +robust[a-z_]*_test\.go' "$log" | grep -v 'ROBUST |' | cut -c1-300
grep -E '^(ok|FAIL)' "$log"
exit $code
