package runtimes

import (
	"bufio"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"snag/probes/probe"
	"snag/recording"
)

const ms = 1_000_000

// unlock is made by a goroutine that came to lock at since; 0: it got it at once.
func unlock(g, since, at uint64, waiters uint32) golangUnlock {
	u := golangUnlock{At: at, Mutex: 0xc000, G: g, Pid: 60, Tid: uint32(70 + g), Waiters: waiters, Where: golangPlace{Caller: 5, Stack: 1}}
	copy(u.Comm[:], "api")
	if since != 0 {
		u.Was = golangWaiting{Mutex: 0xc000, Since: since, Where: golangPlace{Caller: 4, Stack: 2}, Fd: -1}
	}
	return u
}

// said names places by their stacks.
type said struct{}

func (said) id(_ int, p golangPlace) int { return int(1000 + p.Stack) }

func TestMutexOfGoroutinesInTurn(t *testing.T) {
	const from = 1000 * ms
	var m mutexes
	m.add(unlock(1, 0, from+10*ms, 3), from)
	for i := uint64(1); i < 9; i++ {
		u := unlock(1+i%4, from+10*ms*(i-1)+ms, from+10*ms*(i+1), 3)
		u.Was.Polled, u.Was.Fd, u.Was.Mode, u.Was.Poll = u.At-9*ms, 7, 'r', golangPlace{Caller: 6, Stack: 3}
		m.add(u, from)
	}
	m.goesOn(golangGoroutine{Pid: 60, G: 9}, golangWaiting{Mutex: 0xc000, Since: from + 500*ms}, from, from+1000*ms)
	list, left := m.busiest(10)
	if len(list) != 1 || left != 0 {
		t.Fatalf("%d mutexes, %d left out", len(list), left)
	}
	row := list[0].row(9, "api", said{})
	// Eight waited for 9 ms each, until the one before let go; one waits on.
	if row.N != 8 || row.Sum < 0.571 || row.Sum > 0.573 || row.Max != 0.5 || row.Waiters != 5 {
		t.Errorf("%+v", row)
	}
	if row.OwnerBy != recording.OwnerUnlocks || row.OwnerCall != "read" || row.OwnerFD == nil || *row.OwnerFD != 7 || row.OwnerStack != 1003 || row.Owner < 71 {
		t.Errorf("who held it read from descriptor 7: %+v", row)
	}
}

func TestMutexThatNobodyWaitsFor(t *testing.T) {
	var m mutexes
	m.add(unlock(1, 0, 5*ms, 1), 0)
	m.add(unlock(2, 900*ms, 901*ms, 1), 0) // the one before had let go long ago
	list, _ := m.busiest(10)
	if row := list[0].row(0, "api", said{}); row.Sum != 0 || row.N != 0 || row.OwnerCall != "running" || row.OwnerFD != nil {
		t.Errorf("it got it at once: %+v", row)
	}
}

func TestStillWaiting(t *testing.T) {
	came := []waiter{{w: golangWaiting{Since: 1}}, {w: golangWaiting{Since: 9}}, {w: golangWaiting{Since: 5}}}
	if got := stillWaiting(came, 2); len(got) != 2 || got[0].w.Since != 9 || got[1].w.Since != 5 {
		t.Errorf("who came first got it, and was not seen to let go: %+v", got)
	}
	if got := stillWaiting(came, -1); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

func FuzzMutexes(f *testing.F) {
	f.Add([]byte{1, 0, 10, 2, 2, 5, 20, 1, 3, 12, 30, 0})
	f.Fuzz(func(t *testing.T, raw []byte) {
		var m mutexes
		n := 0
		for ; len(raw) >= 4 && n < 1000; raw = raw[4:] {
			u := unlock(uint64(raw[0]), uint64(raw[1]), uint64(raw[2]), uint32(raw[3]))
			u.Mutex += uint64(raw[0] & 1)
			u.Was.Polled = uint64(raw[3])
			m.add(u, uint64(raw[1]&7))
			n++
		}
		list, left := m.busiest(1)
		if len(list)+left != len(m.all) || len(list) > 1 {
			t.Errorf("%d and %d of %d", len(list), left, len(m.all))
		}
		for _, x := range list {
			row := x.row(0, "api", said{})
			if row.Sum < 0 || row.N > uint64(n) || row.Max > 1 {
				t.Errorf("%+v", row)
			}
		}
	})
}

func TestRuntimesByName(t *testing.T) {
	for base, want := range map[string]runtime{
		"node": node, "nodejs": node, "python3.11": python, "python3": python, "ruby3.1": ruby, "dotnet": dotnet, "nginx": other, "nodetool": other,
	} {
		if got := byName(base); got != want {
			t.Errorf("%s runs in %q, not %q", base, got, want)
		}
	}
	maps := "7f00-7f01 r-xp 0 fe:00 1 /usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0\n"
	if got := byLibrary(bufio.NewScanner(strings.NewReader(maps))); got != python {
		t.Errorf("a program with Python inside runs in %q", got)
	}
}

func TestRuntimesOfPrograms(t *testing.T) {
	if got := recognise("/proc", os.Getpid()); got != golang {
		t.Errorf("this test runs in %q", got)
	}
	if isGo(filepath.Join("testdata", "convoy.go")) {
		t.Error("a source is not a program")
	}
	if path, err := exec.LookPath("sleep"); err == nil && isGo(path) {
		t.Error("sleep is not a Go program")
	}
}

// TestCoverageNamesWhatWouldTell: of a program in Node nothing is seen from outside.
func TestCoverageNamesWhatWouldTell(t *testing.T) {
	r := &running{env: &probe.Env{Proc: "/proc"}, kinds: map[int]runtime{os.Getpid(): node, 1 << 30: python}}
	c := r.othersRow()
	if c.State != recording.CoveragePartial || !strings.Contains(c.Why, "Node") || strings.Contains(c.Why, "Python") || !strings.Contains(c.Cure, "--perf-basic-prof") {
		t.Errorf("%+v", c)
	}
	if c = r.goRow(measureStops, false, "--go-runtime"); c.State != recording.CoverageOff || !strings.Contains(c.Cure, "--go-runtime") {
		t.Errorf("%+v", c)
	}
	r.over = "all probes together had used up the budget"
	if c = r.goRow(measureLocks, true, ""); c.State != recording.CoveragePartial || !strings.Contains(c.Cure, "--budget") {
		t.Errorf("%+v", c)
	}
}

func FuzzUnlock(f *testing.F) {
	f.Add(make([]byte, binary.Size(golangUnlock{})))
	f.Fuzz(func(t *testing.T, raw []byte) {
		u, ok := decode[golangUnlock](raw)
		if ok != (len(raw) >= binary.Size(u)) {
			t.Errorf("%d bytes: %v", len(raw), ok)
		}
	})
}
