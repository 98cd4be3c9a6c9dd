package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"snag/internal/built"
)

// hang is a server that takes connections and never says a word.
func hang(t *testing.T, network, address string) (at string, taken *atomic.Int64) {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	taken = &atomic.Int64{}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			taken.Add(1)
			t.Cleanup(func() { c.Close() })
		}
	}()
	return l.Addr().String(), taken
}

// A list of 10,000: servers that hang, that refuse, names that are none, IPv6, lines
// that are no URL, the same URL again. It says what it leaves out, goes on with the
// rest, and its memory stays within 10 MiB and 0.1 MiB for each stream it watches.
func TestWatchOfTenThousand(t *testing.T) {
	dir := t.TempDir()
	command, list, said := filepath.Join(dir, "snag"), filepath.Join(dir, "cams.txt"), filepath.Join(dir, "said")
	built.Program(t, "snag", command)
	four, taken := hang(t, "tcp4", "127.0.0.1:0")
	six := loopback(t)
	if l, err := net.Listen("tcp6", "[::1]:0"); err == nil {
		l.Close()
		six, _ = hang(t, "tcp6", l.Addr().String())
	}
	var b bytes.Buffer
	for i := range 10000 {
		switch {
		case i == 7:
			fmt.Fprintln(&b, "this is not a URL at all")
		case i == 8:
			fmt.Fprintf(&b, "rtmp://%s/live/%s\n", four, strings.Repeat("x", 70000))
		case i == 9:
			fmt.Fprintln(&b, "gopher://127.0.0.1/x")
		case i == 10:
			fmt.Fprintln(&b, "rtmp://no-such-host.invalid/live/x")
		case i == 11:
			fmt.Fprintf(&b, "rtmp://%s/live/cam0\n", four)
		case i%4 == 0:
			fmt.Fprintf(&b, "rtmp://%s/live/cam%d\n", four, i)
		case i%4 == 1:
			fmt.Fprintf(&b, "rtsp://%s/cam%d\n", four, i)
		case i%4 == 2:
			fmt.Fprintf(&b, "http://127.0.0.1:1/cam%d.m3u8\n", i)
		default:
			fmt.Fprintf(&b, "rtmp://%s/live/cam%d\n", six, i)
		}
	}
	if err := os.WriteFile(list, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(said)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command(command, "watch", "--list", list, "--for", "9s", "--connects", "1000")
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	most := 0 // KiB
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	within(t, "its memory is known, and it connects", func() bool {
		most = max(most, peak(cmd.Process.Pid))
		return taken.Load() > 800
	})
	for waiting := true; waiting; {
		select {
		case err = <-done:
			waiting = false
		case <-time.After(50 * time.Millisecond):
			most = max(most, peak(cmd.Process.Pid))
		}
	}
	text, _ := os.ReadFile(said)
	t.Logf("%d MiB at most; %d connections were taken; %v", most>>10, taken.Load(), err)
	if cmd.ProcessState.ExitCode() != 10 {
		t.Errorf("%v, want 10: streams could not be read", err)
	}
	if most == 0 || most > (10+200)<<10 {
		t.Errorf("%d KiB of memory", most)
	}
	for _, want := range []string{"are watched, which is the limit", "cams.txt:8:", "cams.txt:9:", "cams.txt:10:"} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("no %q in: %.4000s", want, text)
		}
	}
}

// peak is the most memory a process ever had, KiB; 0 when it is gone.
func peak(pid int) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(fields[0])
	return n
}
