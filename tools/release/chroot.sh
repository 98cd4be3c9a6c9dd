#!/usr/bin/env bash
# chroot.sh OLD.deb NEW.deb: the package's life in a Debian system: install, use, upgrade, remove, purge.
set -euo pipefail
old=$(realpath "$1") new=$(realpath "$2")
# shellcheck source=tools/release/base.sh
. "$(dirname "$0")/base.sh"
state=/var/lib/snag wants=/etc/systemd/system/multi-user.target.wants/snag-record.service
override=/etc/systemd/system/snag-record.service.d/override.conf
install() {
	cp "$1" "$root/tmp/snag.deb"
	inside dpkg -i /tmp/snag.deb
	rm "$root/tmp/snag.deb"
}
# A systemctl that notes what is asked of it, as no systemd runs here.
mkdir -p "$root/run/systemd/system"
cat >"$root/usr/local/bin/systemctl" <<'END'
#!/bin/sh
echo "$@" >>/tmp/systemctl
END
chmod +x "$root/usr/local/bin/systemctl"
asked() {
	grep -qxF -- "$1" "$root/tmp/systemctl" || fail "systemctl was not asked to $1, but: $(cat "$root/tmp/systemctl")"
	rm "$root/tmp/systemctl"
}
before=$(everything)

says 'To start it, now and at each boot: systemctl enable --now snag-record' install "$old"
asked '--system daemon-reload'
gone $wants $state
says '^snag     1\.0\.0-rc1$' inside snag version
says '^  yes      loading BPF programs' inside snag version
says '^  unknown  loading BPF programs' chroot --userspec=65534:65534 "$root" snag version
says '^listen-overflow ' inside snag suspects
code=0
out=$(inside snag find --for 3s --out /tmp/found 2>&1) || code=$?
case $code in 0 | 10 | 11) ;; *) fail "snag find ended with $code: $out" ;; esac
grep -q ' s recorded' <<<"$out" || fail "snag find says: $out"
[ "$(inside snag show --table coverage /tmp/found | grep -cw ok)" -gt 20 ] || fail "snag find measured too little"
rm -rf "$root/tmp/found"

says '^ *snag-find - ' inside man snag-find
inside man --warnings snag-load 2>&1 >/dev/null | grep . && fail "man warns of snag-load.1"
inside bash -n /usr/share/bash-completion/completions/snag
# shellcheck disable=SC2016 # for the shell inside
says '^find$' inside bash -c '. /usr/share/bash-completion/bash_completion; . /usr/share/bash-completion/completions/snag
	COMP_WORDS=(snag fin) COMP_CWORD=1 COMP_LINE="snag fin" COMP_POINT=8 COMP_TYPE=9 COMP_KEY=9; __start_snag; echo ${COMPREPLY[*]}'
inside zsh -n /usr/share/zsh/vendor-completions/_snag
inside fish --no-execute /usr/share/fish/vendor_completions.d/snag.fish
# The unit is one that systemd takes, its program and its manual page are there.
out=$(inside systemd-analyze verify /usr/lib/systemd/system/snag-record.service /usr/lib/systemd/system/snag-serve.service 2>&1) || fail "systemd-analyze ended with $?: $out"
[ -z "$out" ] || fail "systemd-analyze says: $out"

# What a user made before the upgrade: a ring, an override, an enabled unit, a plan that is confirmed.
timeout --preserve-status -s INT 8 chroot "$root" snag record >/dev/null 2>&1 || fail "snag record ended with $?"
inside /usr/bin/systemctl --root=/ --quiet enable snag-record
mkdir -p "$root$(dirname $override)"
printf '[Service]\nMemoryMax=512M\n' >"$root$override"
somaxconn=$(cat /proc/sys/net/core/somaxconn) # of this network namespace
cat >"$root/tmp/plan.yaml" <<END
version: 1
for: {suspect: listen-overflow}
changes:
  - {id: "1", target: {kind: sysctl, name: net.core.somaxconn}, now: "$somaxconn", then: "16384", why: a test}
END
inside snag tune apply /tmp/plan.yaml >/dev/null
says 'confirmed|kept' inside snag tune confirm
there $wants $override $state/ring $state/tune
kept() { (cd "$root$state" && find . -type f ! -name '*.log' -exec sha256sum {} + | sort); }
kept >"$root/tmp/kept"
[ "$(grep -c '\.snag$' "$root/tmp/kept")" -gt 0 ] || fail "snag record left no piece"
rm -f "$root/tmp/systemctl"

says 'Unpacking snag \(1\.0\.0\) over \(1\.0\.0~rc1\)' install "$new"
asked 'try-restart snag-record.service snag-serve.service'
says '^snag     1\.0\.0$' inside snag version
kept | diff "$root/tmp/kept" - || fail "the upgrade changed what is in $state"
says 'MemoryMax=512M' cat "$root$override"
there $wants
[ "$(cat /proc/sys/net/core/somaxconn)" = 16384 ] || fail "the upgrade undid a confirmed plan"

says 'still changes this host.*snag tune undo' inside dpkg -r snag
asked 'stop snag-record.service snag-serve.service'
gone /usr/bin/snag $wants
kept | diff "$root/tmp/kept" - || fail "the removal changed what is in $state"
says 'still changes this host.*snag tune undo' inside dpkg -P snag
gone $state/ring
[ -n "$(find "$root$state/tune" -name journal.jsonl)" ] || fail "the purge removed the journal of a plan that is in effect"

install "$new" >/dev/null
inside snag tune undo >/dev/null
[ "$(cat /proc/sys/net/core/somaxconn)" = "$somaxconn" ] || fail "the plan was not undone"
inside dpkg -P snag >/dev/null
there $override # the user's
rm -r "$root$(dirname $override)" "$root"/tmp/plan.yaml "$root"/tmp/kept "$root"/tmp/systemctl
everything | diff <(echo "$before") - || fail "the purge left files, or took some"
