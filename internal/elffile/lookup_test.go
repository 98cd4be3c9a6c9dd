package elffile

import (
	"os"
	"path/filepath"
	"testing"
)

func TestStartsOfFunctions(t *testing.T) {
	path := compile(t)
	want := symbols(t, path)
	got := open(t, path).Functions().Starts("outer", "main", "inner", "oute", "no such function")
	if len(got) != 3 || got["outer"] != want["outer"] || got["main"] != want["main"] || got["inner"] != want["inner"] {
		t.Errorf("%v, nm has %x %x %x", got, want["outer"], want["main"], want["inner"])
	}
	var none *Functions
	if len(none.Starts("main")) != 0 {
		t.Error("no table has no functions")
	}
}

// TestStartsInAStrippedGoProgram: its names are in Go's own table.
func TestStartsInAStrippedGoProgram(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, []byte("package main\n\nimport \"sync\"\n\nvar mu sync.Mutex\n\nfunc main() { mu.Lock(); defer mu.Unlock() }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	plain, bare := filepath.Join(dir, "plain"), filepath.Join(dir, "bare")
	run(t, "go", "build", "-o", plain, source)
	run(t, "go", "build", "-ldflags=-s -w", "-o", bare, source)
	want := symbols(t, plain)
	names := []string{"runtime.stopTheWorldWithSema", "runtime.startTheWorldWithSema", "main.main", "internal/sync.(*Mutex).lockSlow"}
	got := open(t, bare).Functions().Starts(names...)
	for _, name := range names {
		if got[name] == 0 || got[name] != want[name] {
			t.Errorf("%s begins at %#x, nm has %#x", name, got[name], want[name])
		}
	}
}
