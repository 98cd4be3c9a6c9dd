package strace

import (
	"strings"
	"testing"
	"time"

	"snag/recording"
)

// Sessions that were put into one file one after the other keep their own lengths, whatever their times
// are: none lies within another.
func TestSessionsInOneFile(t *testing.T) {
	session := `100 1700000000.000000 execve("/bin/true", ["true"], 0x7ffc) = 0 <0.000300>
100 1700000000.100000 openat(AT_FDCWD, "/etc/ld.so.cache", O_RDONLY) = 3 <0.000020>
100 1700000001.500000 close(3) = 0 <0.000010>
100 1700000002.000000 exit_group(0) = ?
100 1700000002.000100 +++ exited with 0 +++
`
	later := strings.ReplaceAll(session, "1700000", "1700009")
	for _, c := range []struct {
		name, text string
		moved      int
		length     float64 // s
	}{
		{"the same three times", session + session + session, 2, 6},
		{"in order", session + later, 0, 9002},
		{"the later one first", later + session, 1, 4},
		{"by the time of day", strings.NewReplacer("1700000000.", "14:00:00.", "1700000001.", "14:00:01.", "1700000002.", "14:00:02.").Replace(session + session), 1, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := &sink{}
			tr := New(out, Options{Begin: 1_700_000_000e9})
			var l Line
			for _, line := range strings.Split(strings.TrimSpace(c.text), "\n") {
				l.Parse([]byte(line))
				tr.Line(&l)
			}
			counts := tr.End()
			if tr.clock.moved != c.moved || tr.clock.back != 0 {
				t.Errorf("%d sessions moved, %d lines back", tr.clock.moved, tr.clock.back)
			}
			if got := counts.Last.Sub(counts.First).Seconds(); got < c.length-0.2 || got > c.length+0.2 {
				t.Errorf("it lasts %.3f s, want %.0f", got, c.length)
			}
			seconds := map[recording.Time]bool{}
			for _, row := range out.Calls {
				seconds[row.T] = true
			}
			if len(seconds) < 2 {
				t.Errorf("its calls are all in %d seconds", len(seconds))
			}
		})
	}
}

// Thousands of processes that end within a second take no more memory than some hundreds: what they did
// is counted all the same.
func TestManyProcessesInASecond(t *testing.T) {
	out := &sink{}
	tr := New(out, Options{Begin: 1_700_000_000e9})
	var l Line
	line := func(text string) {
		l.Parse([]byte(text))
		tr.Line(&l)
	}
	const processes = 20_000
	for pid := range processes {
		p := itoa(1000 + pid)
		for _, text := range []string{`execve("/bin/true", ["true"], 0x7ffc) = 0 <0.000300>`, `openat(AT_FDCWD, "/etc/ld.so.cache", O_RDONLY) = 3 <0.000020>`, `read(3, "x", 10) = 1 <0.000010>`, `close(3) = 0 <0.000010>`} {
			line(p + " 1700000000.100000 " + text)
		}
		line(p + " 1700000000.100000 +++ exited with 0 +++")
		if n := len(tr.left); n > mostLeft {
			t.Fatalf("%d that ended are kept", n)
		}
	}
	counts := tr.End()
	var n uint64
	for _, row := range out.Calls {
		n += row.N
	}
	if n != 4*processes || counts.Calls != 4*processes || len(out.Calls) > 600 {
		t.Errorf("%d calls in %d rows", n, len(out.Calls))
	}
}

// A child may have ended before the line that tells of its birth. Then it is not taken for alive:
// the next session begins when all have ended.
func TestAChildThatEndedBeforeItsBirth(t *testing.T) {
	session := `10 1700000000.000000 execve("/bin/sh", ["sh"], 0x7ffc) = 0 <0.000300>
10 1700000000.100000 clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>
11 1700000000.100100 execve("/bin/true", ["true"], 0x7ffc) = 0 <0.000300>
11 1700000000.200000 +++ exited with 0 +++
10 1700000000.200100 <... clone resumed>) = 11 <0.000200>
10 1700000005.000000 wait4(-1, NULL, 0, NULL) = 11 <0.000010>
10 1700000005.100000 +++ exited with 0 +++
`
	tr := New(&sink{}, Options{Begin: 1_700_000_000e9})
	var l Line
	for line := range strings.Lines(session + session) {
		l.Parse([]byte(strings.TrimSuffix(line, "\n")))
		tr.Line(&l)
	}
	if counts := tr.End(); len(tr.threads) > 0 || tr.clock.moved != 1 || counts.Last.Sub(counts.First) < 10*time.Second {
		t.Errorf("%d threads are left, %d sessions were placed behind another, %s in all", len(tr.threads), tr.clock.moved, counts.Last.Sub(counts.First))
	}
}

// Where times were set back a second may last for the rest of a file: descriptors that nobody
// closed, of processes that ended, do not wait for its end.
func TestDescriptorsOfASecondWithoutEnd(t *testing.T) {
	tr := New(&sink{}, Options{Begin: 1_700_000_000e9})
	var l Line
	line := func(text string) {
		l.Parse([]byte(text))
		tr.Line(&l)
	}
	line(`9 1700000000.100000 execve("/bin/sh", ["sh"], 0x7ffc) = 0 <0.000300>`)
	for pid := range 3 * mostUntold {
		p := itoa(1000 + pid)
		line(p + ` 1700000000.100000 openat(AT_FDCWD, "/etc/passwd", O_RDONLY) = 3 <0.000020>`)
		line(p + ` 1700000000.100000 read(3, "x", 10) = 1 <0.000010>`)
		line(p + ` 1700000000.100000 +++ exited with 0 +++`)
		if n := len(tr.untold); n > mostUntold {
			t.Fatalf("%d descriptors wait to be told", n)
		}
	}
}
