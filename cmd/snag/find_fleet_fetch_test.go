package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// People see the names of these files. A host's name comes from the store, and leads to no other folder.
func TestFilesOfHosts(t *testing.T) {
	for host, want := range map[string]string{
		"db-1": "db-1.snag", "web.example": "web.example.snag", "../x": "host-3.snag", "": "host-3.snag", ".hidden": "host-3.snag",
		"a=b": "host-3.snag", strings.Repeat("x", 200): "host-3.snag",
	} {
		if got := fileOf(host, 2); got != want || filepath.Base(got) != got {
			t.Errorf("%q: %s, want %s", host, got, want)
		}
	}
}

// The lines below the verdict fit the terminal, and what is above is counted as the terminal shows it.
func TestTheAnswerOfRecordingsFitsTheTerminal(t *testing.T) {
	none := &together{}
	gone := &together{failed: []string{"edge-1: no recording: https://10.0.0.3:9849: nothing listens there: start snag serve on that host"}}
	some := &together{names: []string{"db-1", "edge-1"}, failed: gone.failed}
	for want, of := range map[string]*together{
		"NO RECORDINGS were fetched, as no host is affected": none,
		"NO RECORDINGS were judged":                          gone,
		"THE RECORDING of db-1":                              {names: []string{"db-1"}},
		"THE RECORDINGS of 2 hosts, judged together":         some,
	} {
		if got := of.head(); strings.TrimSpace(got) != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	lines := strings.Split(strings.TrimSuffix(gone.foot(80), "\n"), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "not seen   edge-1: no recording: ") {
		t.Errorf("%q", lines)
	}
	for _, line := range lines {
		if len(line) > 80 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	if n := linesOf("a\n\n"+strings.Repeat("x", 80)+"\n"+strings.Repeat("→", 81)+"\n", 80); n != 5 {
		t.Errorf("%d lines", n)
	}
}
