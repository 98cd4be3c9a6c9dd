// Package built gives tests the programs of this repository, each linked once for all
// tests of a run.
package built

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Env names the folder that has the programs already. What runs all tests sets it; a test
// that is run by hand builds its own.
const Env = "BUILT_FOR_TESTS"

// Programs are what Env's folder has, by their names.
var Programs = map[string]string{"snag": "snag/cmd/snag", "snag-lab": "snag/cmd/snag-lab"}

// Program puts a program, "snag" or "snag-lab", at the path to: a file of the test's own,
// which may be renamed, made another user's, and removed.
func Program(t testing.TB, name, to string) {
	t.Helper()
	build := exec.Command("go", "build", "-o", to, Programs[name])
	if dir := os.Getenv(Env); dir != "" {
		// Not by this process: a program that it has open for writing while another test
		// forks can't be started (ETXTBSY, https://go.dev/issue/22315).
		build = exec.Command("cp", filepath.Join(dir, name), to)
	}
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build, err, out)
	}
}
