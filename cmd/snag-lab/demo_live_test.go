package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"snag/internal/built"
)

// The demo with a stand-in for snag find that looks at the incident with ss: the
// storm must be on while it runs, and gone when the demo ends.
func TestDemo(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("making network namespaces needs root")
	}
	if err := demoPackages(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program, find := filepath.Join(dir, "snag-lab"), filepath.Join(dir, "find")
	built.Program(t, "snag-lab", program)
	for _, c := range []struct {
		name, exit string
		ok         bool
	}{{"a culprit", "10", true}, {"nothing", "0", false}, {"a failure", "1", false}} {
		t.Run(c.name, func(t *testing.T) {
			script := `#!/bin/sh
echo "called with $*"
for ns in $(ip netns list | grep -o '^snaglab[0-9]*-origin'); do
	echo "waiting $(ip netns exec $ns ss -Htan state time-wait | wc -l)"
done
exit ` + c.exit + "\n"
			if err := os.WriteFile(find, []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(program, "demo", "--for", "2s", "--snag", find)
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			guard := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
			err := cmd.Wait()
			guard.Stop()
			if (err == nil) != c.ok {
				t.Errorf("the demo ended with %v", err)
			}
			if !strings.Contains(out.String(), "called with find --for 2s") ||
				!regexp.MustCompile(`waiting [1-9]\d{2,}`).MatchString(out.String()) {
				t.Errorf("no storm beside the find:\n%s", out.String())
			}
			left, err := exec.Command("ip", "netns", "list").CombinedOutput()
			if err != nil {
				t.Fatalf("list namespaces: %v: %s", err, left)
			}
			for _, name := range regexp.MustCompile(`snaglab\d+-\w+`).FindAllString(out.String(), -1) {
				if strings.Contains(string(left), name) {
					t.Errorf("namespace %s is left", name)
				}
			}
			t.Log("\n" + out.String())
		})
	}
}

func TestDemoRefuses(t *testing.T) {
	if out, err := labSays("demo", "--for", "1h"); err == nil || !strings.Contains(err.Error(), "between 1s") {
		t.Errorf("%v\n%s", err, out)
	}
}
