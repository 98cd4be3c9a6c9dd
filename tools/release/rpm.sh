#!/usr/bin/env bash
# rpm.sh OLD.rpm NEW.rpm: the package's life with Debian's rpm. Its database and dependencies are not those of a real
# Fedora.
set -euo pipefail
old=$(realpath "$1") new=$(realpath "$2")
# shellcheck source=tools/release/base.sh
. "$(dirname "$0")/base.sh"
on() { rpm --root "$root" "$@"; }
says 'digests OK' rpm -K --nosignature "$new"
says '^/usr/lib/systemd/system/snag-record.service$' rpm -qpl "$new"
says '^/usr/lib/systemd/system/snag-serve.service$' rpm -qpl "$new"
says '^/usr/share/man/man1/snag-find.1.gz$' rpm -qpl "$new"
says '^/usr/share/zsh/site-functions/_snag$' rpm -qpl "$new"
says '^/usr/share/snag/grafana/fleet.json$' rpm -qpl "$new"
says '^License +: Apache-2.0$' rpm -qpi "$new"
on --initdb
before=$(everything)

says 'systemctl enable --now snag-record' on --nodeps -i "$old"
says '^snag     1\.0\.0-rc1$' inside snag version
mkdir -p "$root/var/lib/snag/ring"
echo piece >"$root/var/lib/snag/ring/a.snag"
inside systemctl --root=/ --quiet enable snag-record
on --nodeps -U "$new"
says '^snag     1\.0\.0$' inside snag version
on -V --nodeps snag || fail "rpm -V: installed files differ from the package"
there /var/lib/snag/ring/a.snag /etc/systemd/system/multi-user.target.wants/snag-record.service
on -e snag
there /var/lib/snag/ring/a.snag # rpm knows no purge
rm -r "$root/var/lib/snag"
everything | diff <(echo "$before") - || fail "the removal left files, or took some"
