#!/usr/bin/env bash
# Fetches the programs that snag read is measured beside and that Debian has not, into
# the user's cache, each once. What can't be had is said; its rows stay empty then.
set -euo pipefail
into="${XDG_CACHE_HOME:-$HOME/.cache}/snag/bench-files"
mkdir -p "$into/bin"
PATH="$PATH:$HOME/.cargo/bin"

if [ ! -x "$into/bin/inferno-collapse-perf" ]; then
	echo "snag setup: building inferno for make bench-files"
	cargo install --quiet --root "$into" inferno || echo "snag setup: inferno can't be had here" >&2
fi
if [ ! -e "$into/gcviewer.jar" ]; then
	echo "snag setup: fetching GCViewer for make bench-files"
	if mvn -q dependency:copy -Dartifact=com.github.chewiebug:gcviewer:1.36:jar -DoutputDirectory="$into" -Dmdep.stripVersion=true; then
		[ -e "$into/gcviewer.jar" ]
	else
		echo "snag setup: GCViewer can't be had here" >&2
	fi
fi
# Of these no registry has a package: sources that are there are built.
if [ ! -x "$into/bin/strace-parser" ]; then
	if [ -n "${STRACE_PARSER:-}" ]; then
		cargo install --quiet --root "$into" --path "$STRACE_PARSER"
	else
		echo "snag setup: GitLab's strace-parser is in no registry: STRACE_PARSER=folder of its source builds it" >&2
	fi
fi
if [ ! -x "$into/bin/stackcollapse-perf.pl" ] && [ -z "${STACKCOLLAPSE_PERF:-}" ]; then
	echo "snag setup: stackcollapse-perf.pl is in no registry: STACKCOLLAPSE_PERF=its path measures it" >&2
fi
