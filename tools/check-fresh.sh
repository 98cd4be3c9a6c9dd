#!/usr/bin/env bash
# make check as on a machine that never saw snag: a clean clone of HEAD, an empty home
# and empty caches (Go's builds, tests and modules, npm, pip, ~/.cache); make setup with
# the network, all the rest without. Prints how long each step took.
#
# WARM_MODULES=1 keeps this machine's cache of Go modules. What is installed stays:
# Debian's packages can't be taken away from a machine that others use, and compilers
# that were installed otherwise (Go, Rust, a JDK, Node) are found where they are.
#
# The network is cut by name: in a mount namespace of its own no name is resolved but
# this machine's own, and no proxy is known. All registries are found by name. That ends
# with its last process and changes nothing on the host. A network namespace would cut
# addresses too, but snag's tests set and read settings that only the machine's first
# network namespace has (net.core.default_qdisc, net.core.netdev_max_backlog and some
# forty more): there they fail.
set -euo pipefail
cd "$(dirname "$0")/.."
[ "$(id -u)" = 0 ] || { echo "make check-fresh: a mount namespace and the live tests need root: run it as root" >&2; exit 1; }
git diff --quiet HEAD || echo "make check-fresh: HEAD is checked, without the changes that are not committed"

top=$(mktemp -d)
# Go keeps its modules read-only.
trap 'chmod -R u+w "$top"; rm -rf "$top"' EXIT
git clone --quiet . "$top/snag"

# Shims of version managers look into the home, which is empty: what they would run is used.
path="$(go env GOROOT)/bin"
! rust=$(rustc --print sysroot 2>/dev/null) || path="$path:$rust/bin"
! java=$(readlink -f "$(command -v javac)") || path="$path:$(dirname "$java")"
! node=$(node -p process.execPath 2>/dev/null) || path="$path:$(dirname "$node")"
for dir in ${PATH//:/ }; do
	case "$dir/" in "$HOME"/*) ;; *) path="$path:$dir" ;; esac
done
modules="$top/home/go/pkg/mod"
[ -z "${WARM_MODULES:-}" ] || modules="$(go env GOMODCACHE)"
proxy="$(go env GOPROXY)"
mkdir "$top/home"
# What failed once is kept beside that of other runs.
flakes=${SNAG_FLAKES:-${XDG_CACHE_HOME:-$HOME/.cache}/snag/flakes}
# Of the user's own settings only those stay that the environment holds and that no cache
# is found by: proxies and certificates.
fresh() {
	env -u GOBIN -u GOENV -u GOFLAGS -u GOCACHE -u CARGO_HOME -u RUSTUP_HOME -u PIP_CACHE_DIR -u npm_config_cache -u NPM_CONFIG_CACHE \
		-u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u XDG_CONFIG_HOME -u XDG_DATA_HOME -u XDG_STATE_HOME \
		HOME="$top/home" SNAG_FLAKES="$flakes" XDG_CACHE_HOME="$top/home/.cache" GOPATH="$top/home/go" GOMODCACHE="$modules" GOPROXY="$proxy" PATH="$path" "$@"
}

cd "$top/snag"
began=$SECONDS
fresh make --no-print-directory setup
echo "make check-fresh: setup with the network $((SECONDS - began)) s"
began=$SECONDS
code=0
mkdir "$top/etc"
printf 'nameserver 192.0.2.1\noptions timeout:1 attempts:1\n' >"$top/etc/resolv.conf" # RFC 5737: nobody answers
printf '127.0.0.1 localhost %s\n::1 localhost\n' "$(hostname)" >"$top/etc/hosts"
# Tests whose names are answered by servers of their own need the resolver.
sed 's/^hosts:.*/hosts: files dns/' /etc/nsswitch.conf >"$top/etc/nsswitch.conf"
# shellcheck disable=SC2016 # expanded by the inner shell
cut='for f in resolv.conf hosts nsswitch.conf; do mount --bind "$1/$f" "$(readlink -f "/etc/$f")" || exit 1; done
if getent hosts example.com; then echo "make check-fresh: names are still resolved: the network is not cut" >&2; exit 1; fi
exec sh -c "$2"'
# ONLY=COMMAND runs that instead of the rest of the check.
fresh env -u http_proxy -u https_proxy -u all_proxy -u HTTP_PROXY -u HTTPS_PROXY -u ALL_PROXY GOPROXY=off \
	unshare --mount sh -c "$cut" sh "$top/etc" "${ONLY:-make --no-print-directory check AFTER_SETUP=1}" || code=$?
echo "make check-fresh: the rest without a network $((SECONDS - began)) s"
cd "$OLDPWD"
exit $code
