package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"snag/internal/built"
	"snag/recording"
)

// statuses are those of all threads of a process.
func statuses(pid int) (out []string) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil {
			out = append(out, string(b))
		}
	}
	return out
}

func hasNone(status string) bool {
	for _, field := range []string{"CapEff:\t0000000000000000", "CapPrm:\t0000000000000000", "CapInh:\t0000000000000000", "NoNewPrivs:\t1"} {
		if !strings.Contains(status, field+"\n") {
			return false
		}
	}
	return true
}

// Whoever is root has given up all of it before a stranger's bytes are read: no thread has
// a capability.
func TestNoPrivileges(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("root has privileges to give up")
	}
	dir := t.TempDir()
	snag, packed := filepath.Join(dir, "snag"), filepath.Join(dir, "many.snag")
	built.Program(t, "snag", snag)
	aBomb{file: "tables/sockets.jsonl", write: lines(20_000, socketLine)}.lay(t, packed, 1)
	for _, args := range [][]string{{"judge", packed}, {"show", "--table", "sockets", packed}, {"report", "--html", "-", packed}} {
		cmd := exec.Command(snag, args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		// It reads and judges for a second at least; what was given up can't come back.
		given := false
		for running := true; running && !given; {
			select {
			case <-ended:
				running = false
			case <-time.After(2 * time.Millisecond):
				all := statuses(cmd.Process.Pid)
				given = len(all) >= 2 && !slices.ContainsFunc(all, func(status string) bool { return !hasNone(status) })
			}
		}
		if !given {
			t.Errorf("%v kept its capabilities", args)
			continue
		}
		_ = cmd.Process.Kill()
		<-ended
	}
}

// Every command that takes a stranger's recording gives its privileges up, and still
// reads and writes where only its user may.
func TestFilesOfOtherUsers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("root has privileges to give up")
	}
	dir := t.TempDir()
	snag, home := filepath.Join(dir, "snag"), filepath.Join(dir, "home")
	built.Program(t, "snag", snag)
	folder, packed := filepath.Join(home, "rec"), filepath.Join(home, "rec.snag")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	writeSome(t, folder)
	if err := recording.PackFile(folder, packed); err != nil {
		t.Fatal(err)
	}
	giveAway(t, home)
	for _, args := range [][]string{
		{"judge", folder}, {"judge", packed}, {"show", folder}, {"show", packed}, {"judge", "--baseline", packed, folder},
		{"judge", "--html", filepath.Join(home, "a.html"), packed}, {"report", folder}, {"report", packed}, {"report", "--html", "-", packed},
	} {
		out, err := exec.Command(snag, args...).CombinedOutput()
		code := 0
		if err != nil {
			code = err.(*exec.ExitError).ExitCode() //nolint:errorlint,forcetypeassert // of a command that ran
		}
		if code == 1 || code == 2 || bytes.Contains(out, []byte("permission denied")) || bytes.Contains(out, []byte("samples are missing")) {
			t.Errorf("%v: exit %d\n%s", args, code, out)
		}
	}
	for _, page := range []string{"a.html", "rec.html"} {
		if b, err := os.ReadFile(filepath.Join(home, page)); err != nil || !bytes.HasSuffix(bytes.TrimSpace(b), []byte("</html>")) {
			t.Errorf("%s: %d bytes, %v", page, len(b), err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "snag-copy-*")); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

// writeSome makes a folder's recording with samples and rows.
func writeSome(t *testing.T, dir string) {
	now := recording.Time(time.Now().UnixNano())
	w, err := recording.Create(dir, recording.Manifest{Host: "h", Start: now}, recording.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		at := now.Add(time.Duration(i) * time.Second)
		w.Sample(at, "node_load1", recording.Labels{}, float64(i))
		w.Append(recording.Process{T: at, PID: 1, Comm: "init"})
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// giveAway makes all of a folder another user's alone.
func giveAway(t *testing.T, dir string) {
	const other = 12345
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		mode := os.FileMode(0o600)
		if e.IsDir() {
			mode = 0o700
		}
		if err := os.Chmod(path, mode); err != nil {
			return err
		}
		return os.Chown(path, other, other)
	})
	if err != nil {
		t.Fatal(err)
	}
}
