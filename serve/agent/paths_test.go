package agent

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestPaths(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.1", "a.2", "-b"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/proc/kmsg", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for name, want := range map[string]string{
		"a.*": dir + "/a.1 " + dir + "/a.2", "-b": dir + "/-b", "missing": dir + "/missing",
		"fifo": "fifo is neither a file nor a folder", "*o": "fifo is neither a file nor a folder",
		"link": "link: files of the kernel and devices are not read", "/proc/kmsg": "files of the kernel and devices are not read",
		"/pro?/kmsg": "files of the kernel and devices are not read", "/dev/zero": "files of the kernel and devices are not read",
		"/tmp/../sys/kernel": "files of the kernel and devices are not read", "x*": "no file matches", "": "not a file path", "a\x00": "not a file path",
	} {
		all, err := filesAt([]string{name})
		got := strings.Join(all, " ")
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) || err == nil && got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
	if _, err := recordingAt("."); err == nil || !strings.Contains(err.Error(), "is not a snag recording: it has no manifest.json") {
		t.Errorf("a folder without a manifest: %v", err)
	}
}
