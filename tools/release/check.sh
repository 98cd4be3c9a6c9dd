#!/usr/bin/env bash
# What make release-check runs: the release of HEAD, made twice in folders of their own, the second time with an empty
# cache of Go's, and compared; then what it consists of is installed and used. WORK= keeps what was built; then a run
# uses it again.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ "$(id -u)" = 0 ] || { echo "make release-check: it installs packages in a chroot: run it as root" >&2; exit 1; }
[ "${CGO_ENABLED:-}" = 0 ] || { echo "$0: run it by make: its flags are the Makefile's" >&2; exit 2; }
# What the setup missed must fail, not be fetched.
export GOPROXY=off
work=${WORK:-$(mktemp -d /tmp/snag-release-check-XXXXXX)}
mkdir -p "$work"
[ -n "${WORK:-}" ] || trap 'rm -rf "$work"' EXIT
say() { echo "release-check: $* ($SECONDS s)"; }

shellcheck tools/release/*.sh
shellcheck -s sh packaging/scripts/*
(cd tools/release && go vet ./... && go test ./... && go build -o "$work/release" . && go build -o "$work/container" ./container)
go build -ldflags "-s -w" -o "$work/snag-lab" ./cmd/snag-lab
[ -z "$(git status --porcelain)" ] || say "note: what is not committed is not checked"

# made FOLDER VERSION ARCHITECTURES: the release in FOLDER/dist, of a clone there.
made() {
	[ ! -e "$1/dist/SHA256SUMS" ] || return 0
	rm -rf "$1"
	git clone -q . "$1/tree"
	(cd "$1/tree" && "$work/release" -version "$2" -arch "$3" -out "$1/dist")
	rm -rf "$1/tree"
}
made "$work/old" 1.0.0-rc1 amd64
made "$work/new" 1.0.0 amd64,arm64
say "made"
GOCACHE=$work/cache made "$work/somewhere/else" 1.0.0 amd64,arm64
rm -rf "$work/cache"
diff -r "$work/new/dist" "$work/somewhere/else/dist"
say "two builds are the same, byte by byte"

cd "$work/new/dist"
sha256sum --quiet -c SHA256SUMS
here=$OLDPWD/tools/release
lintian --fail-on error,warning --allow-root snag_1.0.0_*.deb
say "lintian found no error and no warning"
"$here/chroot.sh" "$work/old/dist/snag_1.0.0~rc1_amd64.deb" snag_1.0.0_amd64.deb
say "the .deb was installed, used, upgraded, removed and purged"
"$here/rpm.sh" "$work/old/dist/snag-1.0.0~rc1-1.x86_64.rpm" snag-1.0.0-1.x86_64.rpm
say "the .rpm was installed, upgraded and removed"
"$here/image.sh" snag-1.0.0-linux-amd64.oci.tar amd64
"$here/image.sh" snag-1.0.0-linux-arm64.oci.tar arm64
say "the images run, with a root that is read-only"
"$here/runc.sh" "snag-1.0.0-linux-$(dpkg --print-architecture).oci.tar" "$work/snag-lab" "$work/container"
say "runc runs the image as the DaemonSet asks for: culprits are named, and what is not seen is said"
for arch in amd64 arm64; do
	jq -e '.packages | length > 40 and all(.licenseConcluded != "NOASSERTION")' "snag-1.0.0-linux-$arch.spdx.json" >/dev/null ||
		{ echo "release-check: the SBOM of $arch lacks modules or licences" >&2; exit 1; }
done
say "passed"
