#!/usr/bin/env bash
# runc.sh IMAGE.oci.tar SNAG-LAB CONTAINER: runc runs the image as the DaemonSet asks for (CONTAINER is ./container,
# built), with Docker's seccomp profile and masked paths, beside real incidents. The culprit is named with the
# documented capabilities and no more; without one of them, or without the host's PIDs, snag says what it did not see.
set -euo pipefail
image=$(realpath "$1") lab=$(realpath "$2") container=$(realpath "$3")
manifest=$(realpath "$(dirname "$0")/../../packaging/kubernetes/snag-record.yaml")
fail() { echo "runc.sh: $*" >&2; exit 1; }
work=$(mktemp -d /tmp/snag-runc-XXXXXX) space=snagrunc$$ other=
cleanup() {
	[ -z "$other" ] || kill "$other" 2>/dev/null || true
	ip netns delete "$space" 2>/dev/null || true
	rm -rf --one-file-system "$work"
}
trap cleanup EXIT

mkdir -p "$work"/{image,root/{proc,sys,dev,var/log/containers},volumes/{ring,tmp,container-names}}
tar -xf "$image" -C "$work/image"
blob() { echo "$work/image/blobs/$(jq -r "$1" "$2" | tr : /)"; }
tar -xzf "$(blob '.layers[0].digest' "$(blob '.manifests[0].digest' "$work/image/index.json")")" -C "$work/root"
snag=$work/root/usr/bin/snag
id=$(printf '%064d' 7)
ln -s /var/log/pods/shop_web-0_8d2f41aa-0c1d-4b5e-9f3a-0123456789ab/app/0.log "$work/volumes/container-names/web-0_shop_app-$id.log"

# A snag for the lab. Its find is run by runc; where OWN_PIDS or MANIFEST is set, in another container than the
# documented.
cat >"$work/snag" <<END
#!/usr/bin/env bash
set -euo pipefail
[ "\$1" = find ] || exec "$snag" "\$@"
arguments=() out=
while [ \$# -gt 0 ]; do
	if [ "\$1" = --out ]; then out=\$2; shift; else arguments+=("\$1"); fi
	shift
done
mkdir -p "$work/bundle"
"$container" -manifest "\${MANIFEST:-$manifest}" -root "$work/root" -volumes "$work/volumes" \${OWN_PIDS:+-own-pids} \\
	"\${arguments[@]}" --out /tmp/recording >"$work/bundle/config.json"
code=0
runc --root "$work/state" --log "$work/runc.log" run -b "$work/bundle" "$space" || code=\$?
mv "$work/volumes/tmp/recording" "\$out" || cat "$work/runc.log" >&2
exit \$code
END
chmod +x "$work/snag"

# rows RECORDING FILTER: the coverage rows that a filter of jq takes.
rows() { "$snag" show --table coverage "$1" | jq -c "select($2)"; }
# judged RECORDING FILTER: whether its verdict is one that a filter of jq is true of.
judged() { { "$snag" judge --json "$1" || true; } | jq -e "$2" >/dev/null; }
lacking='.state != "ok" and (.cure // "" | test("CAP_|hostPID|cgroupns|apparmor="))'

for incident in listen-overflow cpu-throttled; do
	said=$("$lab" run "$incident" --for 6s --snag "$work/snag" --out "$work/$incident" 2>&1) || true
	# Not the lab's word: on a busy machine others are culprits too, and lead to this one.
	judged "$work/$incident" "any(.verdict[]; (.state == \"culprit\" or .state == \"consequence\") and .suspect == \"$incident\")" || fail "$incident: $said"
	[ -z "$(rows "$work/$incident" "$lacking or .state == \"failed\"")" ] ||
		fail "$incident: the documented capabilities are not enough: $(rows "$work/$incident" "$lacking or .state == \"failed\"")"
	"$snag" show --table facts "$work/$incident" | grep -q '"shop/web-0/app"' || fail "$incident: the names of containers were not read"
done

# The recorder itself, as the DaemonSet starts it.
mkdir "$work/recorder"
"$container" -manifest "$manifest" -root "$work/root" -volumes "$work/volumes" >"$work/recorder/config.json"
timeout --preserve-status -s INT 8 runc --root "$work/state" run -b "$work/recorder" "$space" >"$work/said" 2>&1 ||
	fail "snag record: $(cat "$work/said")"
[ -n "$(find "$work/volumes/ring/ring" -name '*.snag')" ] || fail "snag record left no piece: $(cat "$work/said")"

OWN_PIDS=yes "$lab" run listen-overflow --for 6s --snag "$work/snag" --out "$work/cut" >"$work/said" 2>&1 || true
[ -d "$work/cut" ] || fail "without the host's PIDs: $(cat "$work/said")"
judged "$work/cut" '(.warnings[0] | test("^the view is cut, so nobody is cleared.*--pid=host")) and (.verdict | length > 20 and all(.state != "cleared"))' ||
	fail "without the host's PIDs: $(cat "$work/said")"
("$snag" judge "$work/cut" || true) | head -3 | grep -q '^! the view is cut' || fail "the text does not begin with what was not seen"

# Without the mount of the host's control groups, as with kubectl debug, nobody is cleared of throttling.
sed -e '/^            - name: cgroup$/,+2d' -e '/^        - name: cgroup$/,+3d' "$manifest" >"$work/manifest.yaml"
MANIFEST=$work/manifest.yaml "$lab" run cpu-throttled --for 6s --snag "$work/snag" --out "$work/own-groups" >"$work/said" 2>&1 || true
judged "$work/own-groups" '.verdict | map(select(.suspect == "cpu-throttled")) | length > 0 and all(.state == "not-seen")' ||
	fail "with control groups of its own: $(cat "$work/said")"
[ -n "$(rows "$work/own-groups" '.probe == "host.cgroup" and (.cure | test("cgroupns=host"))')" ] || fail "it does not say how to see all control groups"

# Each capability is needed: without it, the coverage names it.
ip netns add "$space"
ip netns exec "$space" setpriv --reuid 65534 --regid 65534 --clear-groups python3 -m http.server 8099 --bind 127.0.0.1 >/dev/null 2>&1 &
other=$!
ip -n "$space" link set lo up
# without CAPABILITY…: a find in a container that lacks them must name the last.
without() {
	local named=CAP_${*: -1}
	MANIFEST=$work/manifest.yaml
	grep -vE "^ +- ($(tr ' ' '|' <<<"$*"))\$" "$manifest" >"$MANIFEST"
	export MANIFEST
	"$work/snag" find --for 2s --quiet --budget 0 --out "$work/without-$named" >"$work/said" 2>&1 || true
	unset MANIFEST
	[ -n "$(rows "$work/without-$named" ".state != \"ok\" and ((.why + (.cure // \"\")) | test(\"$named\"))")" ] ||
		fail "without $* nothing names $named: $(cat "$work/said")"
}
without SYS_ADMIN
without SYS_PTRACE
without NET_ADMIN
without SYS_ADMIN PERFMON # SYS_ADMIN includes both
without SYS_ADMIN BPF
[ "$(cat /proc/sys/kernel/kptr_restrict)" = 0 ] || without SYSLOG
