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
