package probes

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"snag/recording"
)

// passedOn notes what a sink is given.
type passedOn struct {
	rows    []recording.Row
	samples []string
}

func (k *passedOn) Append(row recording.Row) { k.rows = append(k.rows, row) }
func (k *passedOn) Sample(_ recording.Time, name string, l recording.Labels, _ float64) {
	k.samples = append(k.samples, fmt.Sprint(name, l))
}

// procWith is a procfs of processes in namespaces.
func procWith(t *testing.T, spaces map[int]uint64) string {
	t.Helper()
	proc := t.TempDir()
	for pid, id := range spaces {
		place(t, proc, pid, id)
	}
	return proc
}

func place(t *testing.T, proc string, pid int, id uint64) {
	t.Helper()
	dir := filepath.Join(proc, fmt.Sprint(pid), "ns")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(filepath.Join(dir, "net"))
	if err := os.Symlink(fmt.Sprintf("net:[%d]", id), filepath.Join(dir, "net")); err != nil {
		t.Fatal(err)
	}
}

func TestOwnSpaceLeavesOutTheOthers(t *testing.T) {
	const own, other = 7, 8
	out := &passedOn{}
	o := newOwnSpace(out, own, procWith(t, map[int]uint64{10: own, 20: other}))
	inside := []recording.Row{
		recording.Process{PID: 10, Netns: own, Cgroup: "/a/b"},
		recording.Socket{Netns: own, Local: "10.0.0.1:80"},
		recording.Thread{PID: 10},
		recording.OnCPU{PID: 10},
		recording.Event{Kind: recording.EventStopped, Subject: recording.Subject{Kind: recording.KindProcess, PID: 10}},
		recording.Event{Kind: recording.EventClockStep, Subject: recording.Subject{Kind: recording.KindHost}},
		recording.Netns{ID: own},
		recording.Fact{Name: "kernel.release"},
		recording.Coverage{Probe: "host"},
		recording.Cgroup{Path: "/a/b"},
		recording.Cgroup{Path: "/a"},
	}
	outside := []recording.Row{
		recording.Process{PID: 20, Netns: other, Cgroup: "/c"},
		recording.Socket{Netns: other},
		recording.Turns{Netns: other, PID: 10},
		recording.Thread{PID: 20},
		recording.LockWait{PID: 20},
		recording.Thread{PID: 30}, // never seen: it has ended
		recording.Event{Kind: recording.EventStopped, Subject: recording.Subject{Kind: recording.KindProcess, PID: 20}},
		recording.Event{Kind: recording.EventNetnsGone, Subject: recording.Subject{Kind: recording.KindNetns, Netns: other}},
		recording.Netns{ID: other},
		recording.Fact{Name: "net.core.somaxconn", Netns: other},
		recording.Cgroup{Path: "/c"},
	}
	for i := range max(len(inside), len(outside)) {
		for _, rows := range [][]recording.Row{inside, outside} {
			if i < len(rows) {
				o.Append(rows[i])
			}
		}
	}
	if !slices.EqualFunc(out.rows, inside, func(a, b recording.Row) bool { return fmt.Sprintf("%T%v", a, a) == fmt.Sprintf("%T%v", b, b) }) {
		t.Errorf("passed:\n%v\nwant:\n%v", out.rows, inside)
	}
	for _, l := range []recording.Labels{nil, {"netns": "7"}, {"netns": "8"}, {"pid": "10"}, {"pid": "20"}, {"cgroup": "/a"}, {"cgroup": "/c"}} {
		o.Sample(0, "x", l, 1)
	}
	if want := []string{"xmap[]", "xmap[netns:7]", "xmap[pid:10]", "xmap[cgroup:/a]"}; !slices.Equal(out.samples, want) {
		t.Errorf("passed %v, want %v", out.samples, want)
	}
}

// A process keeps its place when it has ended, and its number may be given to one of another namespace.
func TestOwnSpaceFollowsNumbers(t *testing.T) {
	proc := procWith(t, map[int]uint64{10: 7})
	o := newOwnSpace(&passedOn{}, 7, proc)
	now := time.Now()
	o.now = func() time.Time { return now }
	if !o.holds(10) {
		t.Fatal("a process of the own namespace is outside")
	}
	if err := os.RemoveAll(filepath.Join(proc, "10")); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Minute)
	if !o.holds(10) {
		t.Error("a process that has ended has lost its place")
	}
	place(t, proc, 10, 8)
	if o.holds(10) {
		t.Error("another process with its number has its place")
	}
}
