#!/usr/bin/env bash
# What make test runs: all tests, a package at a time, since live tests measure the
# machine that they run on. Incidents whose variants run at the same time
# (labtest.Together) look at their own namespaces only and mostly wait: of them two
# packages at a time.
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
# Only make setup downloads: what it missed must fail here, not be fetched by a test.
export GOPROXY=off npm_config_offline=true PIP_NO_INDEX=1
waiting=$(grep -l 'labtest\.Together(' lab/*/*_test.go | xargs -n1 dirname | sort -u | sed 's|^|./|')
# shellcheck disable=SC2086 # a list of folders without blanks
rest=$("$go" list ./... | grep -vxF -f <("$go" list $waiting))
{
	# What fails is told by testsum, which ends with the code of all.
	# shellcheck disable=SC2086
	"$go" test -json -p 2 -count=1 -timeout 25m $waiting || true
	# shellcheck disable=SC2086
	"$go" test -json -p 1 -count=1 -timeout 25m $rest || true
} | "$go" run ./tools/testsum
