package decoder

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snag/internal/kernel"
)

func all() bool { return true }

// A decoder that hangs is killed, and one that is not there is said with its cure.
func TestADecoderThatHangs(t *testing.T) {
	standIn(t, "exec sleep 60")
	begun := time.Now()
	if _, err := Run(context.Background(), "picture", []byte("x"), io.Discard, all); err == nil || !strings.Contains(err.Error(), "was killed") || time.Since(begun) > 2*longest {
		t.Errorf("after %s: %v", time.Since(begun), err)
	}
	standIn(t, "while :; do :; done")
	if _, err := Run(context.Background(), "picture", []byte("x"), io.Discard, all); err == nil || !strings.Contains(err.Error(), "5 s of CPU time and was killed") && !strings.Contains(err.Error(), longest.String()) { // on a busy machine
		t.Errorf("a decoder that never ends: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if err := Check(); err == nil || !strings.Contains(err.Error(), "install it") {
		t.Errorf("without it: %v", err)
	}
}

// It has the lowest priority, may write no file, and is not root.
func TestADecoderIsBounded(t *testing.T) {
	standIn(t, "read x", "nice >&2", "ulimit -f >&2", "ulimit -v >&2", "id -u >&2", "exit 1")
	who := os.Geteuid()
	if other := nobody(); other != nil {
		who = int(other.Uid)
	}
	if has, err := kernel.Capabilities("/proc"); err == nil && has.Has(unix.CAP_SETUID) && has.Has(unix.CAP_SETGID) && who == 0 {
		t.Error("it would be root")
	}
	_, err := Run(context.Background(), "picture", []byte("x\n"), io.Discard, all)
	if err == nil || !strings.HasSuffix(err.Error(), fmt.Sprintf(": 19 0 2097152 %d", who)) {
		t.Errorf("%v", err)
	}
}

// standIn is a script that is called ffmpeg, and that everybody may run.
func standIn(t *testing.T, lines ...string) {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{filepath.Dir(dir), dir} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "ffmpeg"), []byte("#!/bin/sh\n"+strings.Join(lines, "\n")+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}
