package main

import (
	"os/exec"
	"strings"
	"testing"
)

// What makes floods and hogs memory is not in what is shipped.
func TestNothingOfTheLabIsShipped(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "snag/verdict\n") {
		t.Fatalf("list what snag is linked of: %v\n%s", err, out)
	}
	for pkg := range strings.Lines(string(out)) {
		if strings.HasPrefix(pkg, "snag/lab") || strings.HasPrefix(pkg, "snag/cmd/snag-lab") {
			t.Errorf("snag links %s", pkg)
		}
	}
}
