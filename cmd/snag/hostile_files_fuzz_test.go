package main

import (
	"errors"
	"os"
	"path/filepath"
	"sort"
	"testing"

	"snag/readers"
	"snag/recording"
)

// FuzzFiles has snag read any bytes, as it does with files of other tools, and goes the
// complete way from there.
func FuzzFiles(f *testing.F) {
	heads := kinds(f)
	var names []string
	for name := range heads {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		f.Add(heads[name][:min(len(heads[name]), 8192)])
	}
	f.Fuzz(readAndJudge)
}

// readAndJudge is what snag read does with a file.
func readAndJudge(t *testing.T, b []byte) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	if err := readers.Read(t.Context(), readers.Plan{Files: []string{path}, Dir: out}); err != nil {
		return
	}
	r, err := recording.Open(out)
	var over *recording.LimitError
	if errors.As(err, &over) {
		return // a line of another century, say
	}
	if err != nil {
		t.Fatal(err)
	}
	showAll(t, r)
}
