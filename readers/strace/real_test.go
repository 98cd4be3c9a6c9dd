package strace

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"snag/readers/reader"
)

// python is Debian's own: one that a version manager put before it is a shell script.
const python = "/usr/bin/python3"

// program makes calls of every kind that are followed: threads, processes,
// descriptors, errors, locks.
const program = `
import os, socket, threading, subprocess, time
a, b = socket.socketpair()
lock = threading.Lock()
def work():
    for i in range(300):
        with lock:
            a.send(b"x" * 100)
            b.recv(100)
            if i % 100 == 0: time.sleep(0.01)
threads = [threading.Thread(target=work) for _ in range(4)]
for t in threads: t.start()
for t in threads: t.join()
try: os.read(999, 1)
except OSError: pass
try: open("/nowhere/at all) = 3 <0.5>")
except OSError: pass
r, w = os.pipe()
os.write(w, b"abc"); os.read(r, 3)
subprocess.run(["/bin/sh", "-c", "ls -l /etc > /dev/null; exit 3"])
sleeper = subprocess.Popen(["sleep", "60"]); time.sleep(0.1); sleeper.kill(); sleeper.wait()
threading.Thread(target=lambda: os.read(os.pipe()[0], 1), daemon=True).start()
time.sleep(0.05)
`

// read reads files that strace wrote.
func read(t *testing.T, o Options, paths ...string) (map[string]total, Counts) {
	t.Helper()
	out := &sink{}
	tr := New(out, o)
	for _, path := range paths {
		in, err := reader.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if !Sniff(in.Head()) {
			t.Errorf("%s is not taken for strace's", path)
		}
		if err := Read(context.Background(), in, tr); err != nil {
			t.Fatal(err)
		}
		_ = in.Close()
	}
	c := tr.End()
	return totals(&out.Recording), c
}

// summary reads the table of strace -c.
func summary(t *testing.T, text string) map[string]total {
	t.Helper()
	m := map[string]total{}
	lines := bufio.NewScanner(strings.NewReader(text))
	for table := false; lines.Scan(); {
		f := strings.Fields(lines.Text())
		if len(f) > 0 && strings.HasPrefix(f[0], "------") {
			table = !table
			continue
		}
		if !table || len(f) < 5 {
			continue
		}
		n, _ := strconv.ParseUint(f[3], 10, 64)
		var errs uint64
		if len(f) == 6 {
			errs, _ = strconv.ParseUint(f[4], 10, 64)
		}
		m[f[len(f)-1]] = total{n: n, errs: errs}
	}
	if len(m) == 0 {
		t.Fatalf("no table in:\n%s", text)
	}
	return m
}

// What strace counts itself (-C) in the same run is what is read out of its lines.
func TestCountsAreThoseOfStraceItself(t *testing.T) {
	for options, program := range map[string]string{"-ttt -k -T": ""} {
		check(t, options, program)
	}
	for _, options := range []string{
		"-f -ttt -T", "-f -tt -T -y", "-f -t", "-f -r -yy", "-f -ttt -T -i", "-f -T -n", "-f -ttt -x -s 64", "-f -tt -xx -T", "-f -ttt -T -Y", "-f -tt -T -yy -xx -s 256", "-f -ttt -T -e trace=read,write,sendto,recvfrom,futex,clone,clone3,clone", "-f -r -T -n -i -yy -s 0", "-f --absolute-timestamps=format:unix,precision:ns --syscall-times=ns",
	} {
		check(t, options, program)
	}
}

// unreadable counts the calls whose result strace did not get to read: it counts them as errors
// where the thread's call before was one.
func unreadable(text, call string) (n uint64) {
	for line := range strings.Lines(text) {
		if strings.HasSuffix(strings.TrimSpace(line), "= ? "+unavailable) && (strings.Contains(line, call+"(") || strings.Contains(line, call+" resumed")) {
			n++
		}
	}
	return n
}

func check(t *testing.T, options, program string) {
	t.Run(options, func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "trace")
		args := append(strings.Fields(options), "-C", "-o", path)
		if program == "" { // where strace itself is slow: it walks the stack of each call
			args = append(args, "/bin/ls", "/")
		} else {
			args = append(args, python, "-c", program)
		}
		if out, err := exec.Command("strace", args...).CombinedOutput(); err != nil {
			t.Fatalf("strace (make setup installs it): %v\n%s", err, out)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := summary(t, string(text))
		got, counts := read(t, Options{Begin: 1e18}, path)
		for call, w := range want {
			g, doubtful := got[call], unreadable(string(text), call)
			if call != "total" && (g.n != w.n || g.errs > w.errs || g.errs+doubtful < w.errs) {
				t.Errorf("%s: %d calls, %d errors, strace has %d and %d", call, g.n, g.errs, w.n, w.errs)
			}
		}
		for call := range got {
			if _, ok := want[call]; !ok {
				t.Errorf("%s: strace has none", call)
			}
		}
		if counts.Orphans > 0 {
			t.Errorf("%+v", counts)
		}
	})
}

// The files of -ff are one trace: who made whom, and whose descriptors they share.
func TestASetIsOneTrace(t *testing.T) {
	dir := t.TempDir()
	out, err := exec.Command("strace", "-ff", "-ttt", "-T", "-o", filepath.Join(dir, "t"), python, "-c", program).CombinedOutput()
	if err != nil {
		t.Fatalf("strace (make setup installs it): %v\n%s", err, out)
	}
	paths, _ := filepath.Glob(filepath.Join(dir, "t.*"))
	if len(paths) < 6 { // four threads, a shell, and ls
		t.Fatalf("%d files", len(paths))
	}
	var files []One
	want := map[string]uint64{}
	for _, path := range paths {
		in, err := reader.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = in.Close() }()
		pid, _ := strconv.Atoi(filepath.Ext(path)[1:])
		files = append(files, One{in, pid})
		text, _ := os.ReadFile(path)
		for line := range strings.Lines(string(text)) {
			if strings.HasSuffix(line, " = ?\n") { // the end of its thread cut it off: sleep was killed
				continue
			}
			for _, call := range []string{"sendto", "openat"} {
				want[call] += uint64(strings.Count(line, " "+call+"("))
			}
		}
	}
	sink := &sink{}
	tr := New(sink, Options{Begin: 1e18})
	if err := ReadSet(context.Background(), files, 1e18, tr); err != nil {
		t.Fatal(err)
	}
	tr.End()
	got := totals(&sink.Recording)
	for call, n := range want {
		if got[call].n != n {
			t.Errorf("%s: %d, want %d", call, got[call].n, n)
		}
	}
	senders := map[int]bool{}
	for _, row := range sink.Calls {
		if row.Call == "sendto" {
			senders[row.PID] = true
		}
	}
	if len(senders) != 1 {
		t.Errorf("threads that send are of processes %v, want of one", senders)
	}
}
