#!/usr/bin/env bash
# What make bench runs: loads with and without snag find beside them in one run, gaps,
# and snag's own start, memory and CPU (docs/bench.md). Needs root and some 9 minutes;
# ROUNDS and SECONDS_EACH make it longer, ONLY runs those loads alone;
# RECORD=1 compares them with and without snag record instead, and does no more.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/setup.sh bench
exec "${GO:-go}" run ./tools/bench -snag bin/snag -rounds "${ROUNDS:-3}" -for "${SECONDS_EACH:-3}s" -only "${ONLY:-}" ${RECORD:+-record}
