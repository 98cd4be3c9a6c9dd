package states

import (
	"fmt"
	"reflect"
	"runtime"
	"testing"

	"snag/probes/threads"
	"snag/recording"
)

// number is that of a call of this architecture.
func number(t *testing.T, name string) int32 {
	t.Helper()
	for nr, n := range threads.CallNames() {
		if n == name {
			return int32(nr)
		}
	}
	t.Skipf("%s has no call %s in snag's table", runtime.GOARCH, name)
	return 0
}

func entry(tid uint32, doing uint8, nr, fd int32, object uint64, n uint32) found {
	return found{
		kernelFoundKey{Tgid: 7, Tid: tid, Doing: doing, Nr: nr, Fd: fd, Object: object},
		kernelFoundValue{N: n, Comm: [16]uint8{'a', 'p', 'p'}},
	}
}

func TestRows(t *testing.T) {
	futex, read := number(t, "futex"), number(t, "read")
	got := rows([]found{
		entry(8, sleeps, futex, -1, 0x1000, 3),
		entry(8, sleeps, futex, -1, 0x2000, 4),
		entry(9, sleeps, read, 5, 77, 20),
		entry(8, runs, -1, -1, 0, 13),
		entry(9, stopped, read, 5, 77, 2),
	}, 100, 22)
	row := func(tid int, state, call string, fd int, inode, futex, n uint64) recording.ThreadStates {
		return recording.ThreadStates{T: 100, PID: 7, TID: tid, Threads: 1, Comm: "app", State: state, Call: call, FD: fd, Inode: inode, Futex: futex, N: n, Looks: 22}
	}
	want := []recording.ThreadStates{
		row(8, "R", "", -1, 0, 0, 13), row(8, "S", "futex", -1, 0, 0x1000, 3), row(8, "S", "futex", -1, 0, 0x2000, 4),
		row(9, "S", "read", 5, 77, 0, 20), row(9, "T", "read", 5, 77, 0, 2),
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant\n%+v", got, want)
	}
}

// A process of many threads has a row for each place, not for each thread.
func TestManyThreadsAreTakenTogether(t *testing.T) {
	futex := number(t, "futex")
	var all []found
	for tid := range uint32(mostThreads + 1) {
		all = append(all, entry(tid, sleeps, futex, -1, 0x1000, 20), entry(tid, runs, -1, -1, 0, 1))
	}
	got := rows(all, 100, 21)
	if len(got) != 2 {
		t.Fatalf("%d rows: %+v", len(got), got)
	}
	for i, n := range []uint64{mostThreads + 1, 20 * (mostThreads + 1)} {
		if r := got[i]; r.TID != 0 || r.Comm != "" || r.Threads != mostThreads+1 || r.N != n || r.Looks != 21 {
			t.Errorf("%+v, want %d of all threads together", r, n)
		}
	}
}

func Test32BitCalls(t *testing.T) {
	if threads.CompatNames() == nil {
		t.Skip("no table of 32-bit calls of " + runtime.GOARCH)
	}
	got := rowOf(entry(8, sleeps, 3|compat, -1, 0, 1))
	if got.Call != threads.CompatName(3) || got.FD != -1 {
		t.Errorf("%+v, want %s", got, fmt.Sprint(threads.CompatName(3)))
	}
}
