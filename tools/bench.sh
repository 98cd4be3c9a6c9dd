#!/usr/bin/env bash
# What make bench runs: loads with and without snag find beside them in one run,
# snag's own start, memory and CPU, then the probes' benchmarks (docs/bench.md).
# Needs root and some 3 minutes; ROUNDS and SECONDS_EACH make it longer.
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
"$go" run ./tools/bench -snag bin/snag -rounds "${ROUNDS:-3}" -for "${SECONDS_EACH:-5}s"
echo
"$go" test -run '^$' -bench . -benchmem -p 1 ./probes/... ./recording ./scene ./verdict | grep -E '^(Benchmark|ok|FAIL)'
