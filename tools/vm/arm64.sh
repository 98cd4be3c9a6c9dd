#!/usr/bin/env bash
# Boots Debian 12's kernel for arm64 under software emulation with snag of that architecture. It checks that every BPF
# program is loaded there, that system calls have their names, and that snag find names the causes of some of the lab's
# incidents. Packages and what was said stay in .cache/vm/arm64. INCIDENTS= names others (those that need ip, nft and
# sysctl alone).
set -euo pipefail
cd "$(dirname "$0")/../.."
dir=$PWD/.cache/vm/arm64
missing=""
for need in qemu-system-aarch64:qemu-system-arm cpio:cpio depmod:kmod jq:jq; do
	command -v "${need%%:*}" >/dev/null || missing="$missing ${need##*:}"
done
[ -z "$missing" ] || { echo "snag vm: run, as root: apt-get install --no-install-recommends$missing" >&2; exit 1; }
incidents=${INCIDENTS-process-stopped udp-receive-buffer-full listen-overflow upstream-refused netfilter-drop}
mkdir -p "$dir"
go build -o "$dir/" -ldflags '-s -w' ./cmd/snag ./cmd/snag-lab || { echo "snag vm: snag can't be built for $GOARCH" >&2; exit 1; }

# foreign COMMAND… runs apt with lists of arm64's packages alone, apart from those of this machine.
foreign() {
	local command=$1
	shift
	"$command" -q -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o Dir::Etc::SourceList="$dir/sources.list" -o Dir::Etc::SourceParts=/dev/null \
		-o Dir::State::Lists="$dir/lists" -o Dir::State::Status=/dev/null -o Dir::Cache::PkgCache= -o Dir::Cache::SrcPkgCache= \
		-o Acquire::Languages=none -o APT::Sandbox::User=root "$@"
}
if [ ! -e "$dir/release" ]; then
	mkdir -p "$dir/lists/partial"
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main" >"$dir/sources.list"
	foreign apt-get update >"$dir/apt.log" 2>&1 || { cat "$dir/apt.log" >&2; exit 1; }
	package=$(foreign apt-cache depends linux-image-cloud-arm64 | sed -n 's/.*Depends: //p' | head -1)
	(cd "$dir" && foreign apt-get download "$package" busybox-static >>apt.log 2>&1) || { cat "$dir/apt.log" >&2; exit 1; }
	for p in "$dir"/*.deb; do dpkg-deb -x "$p" "$dir/root"; done
	rm "$dir"/*.deb
	depmod -b "$dir/root" "${package#linux-image-}"
	echo "${package#linux-image-}" >"$dir/release"
fi
if [ ! -e "$dir/root/usr/sbin/nft" ]; then # what the lab's incidents are made with, and its libraries
	mkdir -p "$dir/archives/partial"
	foreign apt-get -y --download-only --no-install-recommends -o Dir::Cache::Archives="$dir/archives" -o Debug::NoLocking=1 \
		install iproute2 nftables procps >>"$dir/apt.log" 2>&1 || { cat "$dir/apt.log" >&2; exit 1; }
	for p in "$dir"/archives/*.deb; do dpkg-deb -x "$p" "$dir/root"; done
	rm -r "$dir/archives"
fi
release=$(cat "$dir/release")
r=$dir/initramfs
rm -rf "$r"
mkdir -p "$r"/{bin,etc,run,tmp,proc,sys,dev} "$r/lib/modules/$release"
cp "$dir/root/bin/busybox" "$dir"/snag{,-lab} "$r/bin/"
# busybox has an ip and a sysctl too, but not all that the lab asks of them.
cp -L "$dir"/root/{bin/ip,usr/sbin/nft,sbin/sysctl} "$r/bin/"
mkdir -p "$r"/{lib,usr/lib}/aarch64-linux-gnu
cp -L "$dir"/root/lib/ld-linux-aarch64.so.1 "$r/lib/"
for d in lib usr/lib; do find "$dir/root/$d/aarch64-linux-gnu" -maxdepth 1 -name '*.so.*' -exec cp -L {} "$r/$d/aarch64-linux-gnu/" ';'; done
echo "incidents='$incidents'" >"$r/etc/lab"
for f in sh mount modprobe; do ln -s busybox "$r/bin/$f"; done
ln -s bin "$r/sbin" # the kernel calls /sbin/modprobe
install -m 755 tools/vm/arm64-init "$r/init"
cp "$dir/root/lib/modules/$release"/modules.{order,builtin,builtin.modinfo} "$r/lib/modules/$release/"
for m in inet_diag tcp_diag udp_diag raw_diag unix_diag veth nf_tables nft_numgen nft_limit nft_reject_inet nft_ct; do
	modprobe -d "$dir/root" -S "$release" --show-depends "$m" | sed -n 's/^insmod \([^ ]*\).*/\1/p'
done | sort -u | while read -r f; do cp "$f" "$r/lib/modules/$release/"; done
depmod -b "$r" "$release"
(cd "$r" && find . | cpio --quiet -o -H newc | gzip -1) >"$dir/initrd.gz"

console=$dir/console.txt
nice -n 19 timeout 2400 qemu-system-aarch64 -M virt -cpu max,pauth-impdef=on -accel tcg -smp 2 -m 1024 \
	-nodefaults -no-user-config -display none -no-reboot -net none -serial "file:$console" \
	-kernel "$dir/root/boot/vmlinuz-$release" -initrd "$dir/initrd.gz" \
	-append "console=ttyAMA0 quiet panic=-1 mitigations=off nokaslr" </dev/null || true

# said MARK is what init printed under it.
said() { tr -d '\r' <"$console" | sed -n "s/^=$1 //p"; }
fail() { echo "snag vm: $release: $*; all it said is in $console" >&2; exit 1; }
tr -d '\r' <"$console" | grep -x "=end" >/dev/null || fail "the machine did not come to its end"
said version | jq -e '.platform == "linux/arm64" and all(.features[]; .answer == "yes")' >/dev/null || fail "snag version lacks a feature: $(said version)"
case $(said exit) in 0 | 10 | 11) ;; *) fail "snag find ended with $(said exit): $(said text)" ;; esac
failed=$(said coverage | jq -r 'select(.state == "failed" or (.state == "unavailable" and (.why | test("refused|invalid argument")))) | "\(.probe): \(.why)"')
[ -z "$failed" ] || fail "probes failed: $failed"
for probe in drops.kfree_skb sockets.connections sockets.resets memory.reclaim ends states offcpu.waits syscalls.calls; do
	said coverage | jq -se --arg probe "$probe" 'any(.[]; .probe == $probe and (.state == "ok" or .state == "partial"))' >/dev/null ||
		fail "$probe was not measured: $(said coverage | grep "\"$probe\"" || echo 'it has no row')"
done
# Numbers of calls differ from amd64's: connect is 203 here and 42 there.
for call in connect execve wait4; do # not grep -q: said would be ended by a signal
	said syscalls | grep -w "$call" >/dev/null || fail "snag syscalls saw no $call"
done
for name in $incidents; do
	case $(said "exit-$name") in
		0) echo "snag vm: $release: $name: $(said "lab-$name" | grep -m1 CULPRIT)" ;;
		*) fail "$name: $(said "lab-$name" | tail -40)" ;;
	esac
done
echo "snag vm: $release: every BPF program of snag find was loaded; $(said coverage | jq -r .state | sort | uniq -c | xargs)"
