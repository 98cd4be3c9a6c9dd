#!/usr/bin/env bash
# Builds Thanos, the store of the lab's fleet (make bench-fleet), from its Go module into the user's cache, once. Its
# release is built with these tags (.promu.yml there): without slicelabels its receivers panic
# (https://github.com/thanos-io/thanos/issues/8543). go install is no use, as its go.mod replaces modules.
set -euo pipefail
version=v0.42.4 # the newest that Go 1.26.0 builds; v0.42.5 needs 1.26.10
into="${XDG_CACHE_HOME:-$HOME/.cache}/snag/fleet"
if [ -x "$into/thanos" ] && [ "$(cat "$into/version" 2>/dev/null)" = "$version slicelabels" ]; then
	exit 0
fi
echo "snag setup: building Thanos $version into $into (about five minutes on two cores)"
mkdir -p "$into"
cd /
source="$("${GO:-go}" mod download -json "github.com/thanos-io/thanos@$version" | sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p')"
[ -d "$source" ] || { echo "snag setup: the Go proxy does not serve github.com/thanos-io/thanos@$version" >&2; exit 1; }
cd "$source"
GOFLAGS="-buildvcs=false -trimpath" CGO_ENABLED=0 "${GO:-go}" build -mod=readonly -tags netgo,slicelabels -ldflags '-s -w' -o "$into/thanos.new" ./cmd/thanos
mv "$into/thanos.new" "$into/thanos"
echo "$version slicelabels" >"$into/version"
