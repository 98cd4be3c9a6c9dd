package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The unit that is shipped is one that systemd takes, and its command line is one of snag's.
func TestRecordUnit(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Fatal("make setup installs systemd:", err)
	}
	b, err := os.ReadFile("../../packaging/snag-record.service")
	if err != nil {
		t.Fatal(err)
	}
	const program = "/usr/local/bin/snag"
	_, command, _ := strings.Cut(string(b), "ExecStart="+program+" ")
	command, _, _ = strings.Cut(command, "\n")
	cmd, args, err := rootCommand().Find(strings.Fields(command))
	if err != nil || cmd.Name() != "record" {
		t.Fatalf("it starts %q: %v", command, err)
	}
	if err := cmd.ParseFlags(args); err != nil {
		t.Errorf("it starts %q: %v", command, err)
	}
	dir := t.TempDir()
	unit := filepath.Join(dir, "snag-record.service")
	text := strings.ReplaceAll(string(b), "ExecStart="+program, "ExecStart=/bin/true") // what it starts need not be installed
	if err := os.WriteFile(unit, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("systemd-analyze", "verify", "--man=no", unit).CombinedOutput(); err != nil || strings.Contains(string(out), "snag-record") {
		t.Errorf("%v\n%s", err, out)
	}
}
