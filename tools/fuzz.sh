#!/usr/bin/env bash
# Runs every fuzz target of the tree for a while each.
set -euo pipefail
cd "$(dirname "$0")/.."
for file in $(git grep -l '^func Fuzz' -- '*_test.go'); do
	for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file"); do
		echo "$(dirname "$file") $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "${1:-10s}" "./$(dirname "$file")"
	done
done
