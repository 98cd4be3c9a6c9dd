#!/usr/bin/env bash
# Builds the API server of Kubernetes, for make test-kubernetes, from its Go module into the user's cache, once. In
# Kubernetes' own source the modules of k8s.io lie beside it; here they are those that were released with it.
set -euo pipefail
version=1.33.4
into="${XDG_CACHE_HOME:-$HOME/.cache}/snag/kubernetes"
if [ -x "$into/kube-apiserver" ] && [ "$(cat "$into/version" 2>/dev/null)" = "$version" ]; then
	exit 0
fi
echo "snag setup: building kube-apiserver $version into $into (about eight minutes on two cores)"
mkdir -p "$into"
cd /
go="${GO:-go}"
source="$("$go" mod download -json "k8s.io/kubernetes@v$version" | sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p')"
[ -d "$source" ] || { echo "snag setup: the Go proxy does not serve k8s.io/kubernetes@v$version" >&2; exit 1; }
work="$(mktemp -d)"
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cp -r "$source" "$work/src"
chmod -R u+w "$work/src"
cd "$work/src"
rm -f go.work go.work.sum
sed -i '/=> \.\/staging/d' go.mod
for module in $(sed -n 's|^\t\(k8s.io/[a-z0-9-]*\) v0.0.0$|\1|p' go.mod); do
	"$go" mod edit -replace "$module=$module@v0.${version#1.}"
done
GOFLAGS="-buildvcs=false -trimpath" CGO_ENABLED=0 GOWORK=off "$go" build -mod=mod -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=v$version" -o "$into/kube-apiserver.new" ./cmd/kube-apiserver
mv "$into/kube-apiserver.new" "$into/kube-apiserver"
echo "$version" >"$into/version"
