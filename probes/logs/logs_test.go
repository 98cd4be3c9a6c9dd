package logs

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"snag/probes/probe"
	"snag/probes/probe/probetest"
	"snag/recording"
)

func TestAppends(t *testing.T) {
	for _, c := range []struct {
		fdinfo, path string
		want         bool
	}{
		{"pos:\t0\nflags:\t02102001\nmnt_id:\t30\n", "/var/log/nginx/access.log", true}, // O_WRONLY|O_APPEND|O_CLOEXEC
		{"pos:\t0\nflags:\t02102001\n", "/srv/journal", true},
		{"pos:\t0\nflags:\t0100001\n", "/srv/server.log", true},
		{"pos:\t0\nflags:\t0100001\n", "/srv/dump.sql", false},
		{"pos:\t0\nflags:\t0100002\n", "/srv/table.ibd", false}, // read and written: a database
		{"pos:\t0\nflags:\t0100000\n", "/srv/server.log", false},
		{"pos:\t0\n", "/srv/server.log", false},
		{"flags:\tx\n", "/srv/server.log", false},
	} {
		if got := appends([]byte(c.fdinfo), c.path); got != c.want {
			t.Errorf("%q %s: %v", c.fdinfo, c.path, got)
		}
	}
	for _, no := range []string{"socket:[1]", "/dev/null", "/memfd:x", "/proc/1/x", "pipe:[2]"} {
		if plausible(no) {
			t.Errorf("%s is plausible", no)
		}
	}
}

func FuzzParseFlags(f *testing.F) {
	f.Add([]byte("pos:\t0\nflags:\t02102001\nmnt_id:\t30\n"))
	f.Add([]byte("flags:"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if flags, _ := parseFlags(b); flags < 0 {
			t.Errorf("flags %d", flags)
		}
	})
}

// TestLive follows this process' own log: it grows, falls silent, and is rotated.
func TestLive(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // a service has sockets
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	path := filepath.Join(t.TempDir(), "service.log")
	log, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	sink := probetest.NewSink()
	watch := probe.NewWatch(10)
	env := &probe.Env{Proc: "/proc", Anchor: probe.NewAnchor(), SelfPID: -1, Sink: sink, Watch: watch, Notice: sink.Notice}
	r, err := Probe.Start(context.Background(), env)
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(4500 * time.Millisecond); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if _, err := log.WriteString("a line of ten\n"); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(3500 * time.Millisecond)
	if !watch.Has(os.Getpid()) {
		t.Error("the process whose log fell silent is not watched")
	}
	r.Stop()
	var rows []recording.LogFile
	for _, row := range sink.Recording().LogFiles {
		if row.Path == path {
			rows = append(rows, row)
		}
	}
	if len(rows) < 5 {
		t.Fatalf("%d rows of %s", len(rows), path)
	}
	grew := 0
	for i := 1; i < len(rows); i++ {
		if rows[i].Size > rows[i-1].Size {
			grew++
		}
	}
	last := rows[len(rows)-1]
	if grew < 3 || last.Size == 0 || last.PID != os.Getpid() || last.FD != int(log.Fd()) || last.Inode == 0 || last.MTime >= last.T || !last.Rotated || rows[0].Rotated {
		t.Errorf("it grew %d times; first %+v, last %+v", grew, rows[0], last)
	}
	if c, ok := sink.Recording().Measured("logs.files"); !ok || c.Cost <= 0 {
		t.Errorf("coverage %+v", c)
	}
}

// TestWaitsToWrite: one thread in a write to a full pipe is enough, by either name of the function.
func TestWaitsToWrite(t *testing.T) {
	for in, want := range map[string]bool{"pipe_write": true, "anon_pipe_write": true, "anon_pipe_read": false, "0": false} {
		proc := t.TempDir()
		for tid, in := range map[string]string{"7": "do_epoll_wait", "8": in} {
			dir := filepath.Join(proc, "7", "task", tid)
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "wchan"), []byte(in), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		s := &sampler{env: &probe.Env{Proc: proc}}
		if got := s.waitsToWrite(7); got != want {
			t.Errorf("%s: %v, want %v", in, got, want)
		}
	}
}
