#!/usr/bin/env bash
# What make test runs: all tests, or those of the packages given (tools/tests says in
# which order), and what came of them (tools/testsum). With SEED of the lab's incidents only
# a third, which it draws.
set -euo pipefail
cd "$(dirname "$0")/.."
# The Makefile says with what flags all is compiled, once for all.
[ "${CGO_ENABLED:-}" = 0 ] || { echo "$0: run it by make: its flags are the Makefile's" >&2; exit 2; }
go=${GO:-go}
# Only make setup downloads: what it missed must fail here, not be fetched by a test.
export GOPROXY=off npm_config_offline=true PIP_NO_INDEX=1
"$go" run ./tools/tests ${SEED:+-draw "$SEED"} "$@" | "$go" run ./tools/testsum
