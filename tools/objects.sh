#!/usr/bin/env bash
# Builds the S3 server that the tests of snag record --incidents-to speak with, Versity's gateway over a folder, from
# its Go module into the user's cache, once.
set -euo pipefail
version=v1.8.0
into="${XDG_CACHE_HOME:-$HOME/.cache}/snag/objects"
if [ -x "$into/versitygw" ] && [ "$(cat "$into/version" 2>/dev/null)" = "$version" ]; then
	exit 0
fi
echo "snag setup: building the S3 server versitygw $version into $into (about a minute on two cores)"
mkdir -p "$into"
cd /
GOFLAGS="-buildvcs=false -trimpath" CGO_ENABLED=0 GOBIN="$into/new" "${GO:-go}" install -ldflags '-s -w' "github.com/versity/versitygw/cmd/versitygw@$version"
mv "$into/new/versitygw" "$into/versitygw"
rmdir "$into/new"
echo "$version" >"$into/version"
