package ends

import (
	"reflect"
	"testing"

	"snag/recording"
)

// ended is an entry of the table; codes are those of wait(2).
func ended(pid, ppid uint32, comm string, at, began uint64, code int32) end {
	e := end{pid, kernelEnd{At: at, Began: began, Ppid: ppid, Code: code, Netns: 7}}
	copy(e.value.Comm[:], comm)
	return e
}

func TestRows(t *testing.T) {
	got, lost := rows([]end{
		ended(13, 5, "worker", 4e9, 1e9, 11|0x80),
		ended(12, 5, "worker", 3e9, 1e9, 9),
		ended(11, 5, "grep", 2e9, 3e9, 1<<8), // a clock that disagrees makes no age
		ended(14, 5, "true", 5e9, 4.5e9, 0),
		ended(15, 1, "realtime", 6e9, 5e9, 0x7e),
		ended(16, 1, "odd", 7e9, 5e9, -1),
	}, recording.Anchor{Wall: 100e9})
	want := []recording.Exit{
		{T: 102e9, PID: 11, PPID: 5, Comm: "grep", Netns: 7, Status: 1, N: 1},
		{T: 103e9, PID: 12, PPID: 5, Comm: "worker", Netns: 7, Signal: "SIGKILL", Age: 2, N: 1},
		{T: 104e9, PID: 13, PPID: 5, Comm: "worker", Netns: 7, Signal: "SIGSEGV", Core: true, Age: 3, N: 1},
		{T: 105e9, PID: 14, PPID: 5, Comm: "true", Netns: 7, Age: 0.5, N: 1},
		{T: 106e9, PID: 15, PPID: 1, Comm: "realtime", Netns: 7, Signal: "signal 126", Age: 1, N: 1},
		{T: 107e9, PID: 16, PPID: 1, Comm: "odd", Netns: 7, Signal: "signal 127", Core: true, Age: 2, N: 1},
	}
	if !reflect.DeepEqual(got, want) || lost != 0 {
		t.Errorf("%+v, %d lost; want\n%+v", got, lost, want)
	}
}

// Many alike have a row together; what ended otherwise keeps its own.
func TestManyAreToldTogether(t *testing.T) {
	var all []end
	for i := range uint32(100) {
		all = append(all, ended(100+i, 5, "sh", 2e9+uint64(i), 1e9+uint64(i), 0))
	}
	all = append(all, ended(300, 5, "sh", 3e9, 1e9, 9))
	got, lost := rows(all, recording.Anchor{})
	if len(got) != mostEach+2 || lost != 0 {
		t.Fatalf("%d rows, %d lost", len(got), lost)
	}
	if r := got[mostEach]; r.PID != 0 || r.N != 100-mostEach || r.Age != 1 || r.T != 2e9+mostEach {
		t.Errorf("%+v, want the others together", r)
	}
	if r := got[mostEach+1]; r.PID != 300 || r.Signal != "SIGKILL" {
		t.Errorf("%+v", r)
	}
}

// Where a second has too many, those by a signal are kept first, and none is lost unsaid.
func TestMostRows(t *testing.T) {
	var all []end
	for i := range uint32(1000) {
		code := int32(0)
		switch {
		case i%100 == 0:
			code = 11
		case i%10 == 0:
			code = 2 << 8
		}
		all = append(all, ended(1000+i, i+1, "sh", uint64(i), 0, code))
	}
	got, lost := rows(all, recording.Anchor{})
	n := uint64(0)
	by := map[string]int{}
	for i, r := range got {
		n += r.N
		by[r.Signal+string(rune('0'+r.Status))]++
		if i > 0 && r.T < got[i-1].T {
			t.Fatalf("not in order of time: %+v", r)
		}
	}
	if len(got) != mostRows || n+lost != 1000 || by["SIGSEGV0"] != 10 || by["2"] != 90 {
		t.Errorf("%d rows, %d of 1000 lost, by outcome %v", len(got), lost, by)
	}
	if got, lost := rows(nil, recording.Anchor{}); len(got) != 0 || lost != 0 {
		t.Errorf("of nothing: %+v, %d", got, lost)
	}
}
