package syscalls

import (
	"fmt"
	"testing"
	"time"

	"snag/probes/threads"
	"snag/recording"
	"snag/recording/calltable"
)

func number(t testing.TB, name string) uint32 {
	t.Helper()
	for nr, n := range threads.CallNames() {
		if n == name {
			return uint32(nr)
		}
	}
	t.Skip("no names of this architecture's calls")
	return 0
}

func TestFailuresAndSuccessesAreOneRow(t *testing.T) {
	read := number(t, "read")
	rows := calltable.Table{}
	anchor := recording.Anchor{Wall: 1000, Monotonic: 10}
	ok := kernelCallValue{N: 3, Asked: 300, Done: 250, Sum: 9000, Max: 5000, MaxAt: 50}
	ok.Hist[0], ok.Hist[2] = 2, 1
	copy(ok.Comm[:], "nginx")
	again := kernelCallValue{N: 2, Asked: 200, Sum: 1000, Max: 600, MaxAt: 70}
	again.Hist[0] = 2
	add(rows, 1, anchor, &kernelCallKey{Pid: 7, Tid: 8, Fd: 3, Nr: read}, &ok)
	add(rows, 1, anchor, &kernelCallKey{Pid: 7, Tid: 8, Fd: 3, Nr: read, Err: 11}, &again)
	add(rows, 1, anchor, &kernelCallKey{Pid: 7, Tid: 8, Fd: 3, Nr: read, Err: 512}, &kernelCallValue{N: 1})
	out, folded := rows.Coarser(calltable.Most)
	if len(out) != 1 || folded != 0 {
		t.Fatalf("%d rows, %d taken together", len(out), folded)
	}
	want := recording.Call{T: 1, PID: 7, TID: 8, Comm: "nginx", Call: "read", FD: 3, N: 6, Sum: 1e-5, Max: 5e-6, MaxAt: 1040}
	got := *out[0]
	if fmt.Sprint(got.Errors) != "map[EAGAIN:2 ERESTARTSYS:1]" || *got.Asked != 500 || *got.Done != 250 || fmt.Sprint(got.Hist) != "[4 0 1]" {
		t.Errorf("%+v %d %d", got, *got.Asked, *got.Done)
	}
	got.Errors, got.Asked, got.Done, got.Hist = nil, nil, nil, nil
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestTakenTogetherNothingIsLost(t *testing.T) {
	read, futex := number(t, "read"), number(t, "futex")
	for _, most := range []int{10, 100, 1000, 100000} {
		rows := calltable.Table{}
		var n, sum uint64
		for i := range 5000 {
			nr := read
			if i%3 == 0 {
				nr = futex
			}
			v := kernelCallValue{N: uint64(i%7 + 1), Sum: uint64(i) * 1000, Max: uint64(i)}
			n, sum = n+v.N, sum+v.Sum
			add(rows, 1, recording.Anchor{}, &kernelCallKey{Pid: uint32(1 + i/500), Tid: uint32(1 + i/50), Fd: int32(i % 50), Nr: nr}, &v)
		}
		all := len(rows)
		out, folded := rows.Coarser(most)
		if len(out) > most+2 || folded != all-len(out) {
			t.Errorf("%d rows where %d are allowed, %d taken together", len(out), most, folded)
		}
		var gotN uint64
		gotSum := 0.0
		for _, r := range out {
			gotN += r.N
			gotSum += r.Sum
			if r.PID == 0 && (r.Comm != "" || r.FD != calltable.SeveralFDs) {
				t.Errorf("%+v", *r)
			}
		}
		if gotN != n || gotSum < float64(sum)/1e9*0.999999 || gotSum > float64(sum)/1e9*1.000001 {
			t.Errorf("at %d rows: %d calls of %d, %g s of %g", most, gotN, n, gotSum, float64(sum)/1e9)
		}
	}
}

func TestKinds(t *testing.T) {
	names := map[int]string{0: "read", 1: "getpid", 2: "epoll_wait", 3: "sendmsg", 600: "write", -1: "write"}
	k := kindsOf(names)
	if k[0] != kindFD|kindRead|kindAsked2|kindBuffer || k[1] != 0 || k[2] != kindFD || k[3] != kindFD|kindWrite|kindMessage {
		t.Errorf("%v", k[:4])
	}
	if callName(compatBit|3) == callName(3) {
		t.Error("a 32-bit call has the name of a 64-bit one")
	}
	if b, a := moves("recvfrom/32"); !b || !a {
		t.Error("a 32-bit recvfrom moves no bytes")
	}
	if b, _ := moves("getpid"); b {
		t.Error("getpid moves bytes")
	}
}

func TestLongCallsAreEventsUnlessIdle(t *testing.T) {
	row := recording.Call{PID: 1, TID: 2, Comm: "x", Call: "write", Max: 1.5, MaxAt: 100}
	e, ok := sat(row)
	if !ok || e.T != 100 || e.End != recording.Time(100).Add(1500*time.Millisecond) || e.Attrs["call"] != "write" {
		t.Errorf("%+v %v", e, ok)
	}
	for _, not := range []recording.Call{{TID: 2, Call: "write", Max: 0.9}, {TID: 2, Call: "epoll_wait", Max: 9}, {TID: 2, Call: "futex", Max: 9}, {Call: "write", Max: 9}} {
		if _, ok := sat(not); ok {
			t.Errorf("%+v is an event", not)
		}
	}
}

func TestChargesWhatItMeasuredForAsLongAsItWasAttached(t *testing.T) {
	t0 := time.Now()
	r := &runtimes{share: 0.5}
	if s := r.charge(t0, true); s != 0 {
		t.Errorf("%g s at once", s)
	}
	if s := r.charge(t0.Add(2*time.Second), true); s != 1 {
		t.Errorf("%g s after 2 s at half a CPU", s)
	}
	if s := r.charge(t0.Add(4*time.Second), false); s != 0 || r.seconds != 1 {
		t.Errorf("%g s while nothing was attached, %g in all", s, r.seconds)
	}
}
