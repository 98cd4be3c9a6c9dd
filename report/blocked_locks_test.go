package report

import (
	"bytes"
	"testing"
)

func TestLocksStandFirst(t *testing.T) {
	convoy := []BlockedThread{
		{PID: 8, TID: 20, Comm: "idle", Call: "read", FD: "0", Seconds: 900},
		{PID: 8, TID: 9, Comm: "pool", Call: "futex", Seconds: 3, Lock: "0x10", Holder: 12, On: "futex 0x10, a lock that pool[12] holds"},
		{PID: 8, TID: 10, Comm: "pool", Call: "futex", Seconds: 2, Lock: "0x10", Holder: 12},
		{PID: 8, TID: 11, Comm: "pool", Call: "futex", Seconds: 1, Lock: "0x10"},
		{PID: 8, TID: 12, Comm: "pool", Call: "recvfrom", FD: "7", Seconds: 3.5, AtLeast: true, On: "tcp a – b:5432"},
		{PID: 8, TID: 13, Comm: "alone", Call: "futex", Seconds: 1, Lock: "0x20", Holder: 14, On: "futex 0x20, a lock that x[14] holds"},
	}
	circle := []BlockedThread{
		{PID: 5, TID: 6, Comm: "a", Call: "futex", Seconds: 60, Lock: "0x1", Holder: 7},
		{PID: 5, TID: 7, Comm: "b", Call: "futex", Seconds: 61, Lock: "0x2", Holder: 8},
		{PID: 5, TID: 8, Comm: "c", Call: "futex", Seconds: 62, Lock: "0x3", Holder: 6},
		// Waits for one of the circle, and is none of it.
		{PID: 5, TID: 9, Comm: "d", Call: "futex", Seconds: 10, Lock: "0x1", Holder: 7, On: "futex 0x1, a lock that b[7] holds"},
		{PID: 5, TID: 3, Comm: "e", Call: "futex", Seconds: 5, Lock: "0x4", Holder: 9, On: "futex 0x4, a lock that d[9] holds"},
	}
	for _, c := range []struct {
		name string
		rows []BlockedThread
		want string
	}{
		{"a convoy", convoy, `6 threads of 1 process, twice in 1 s: 6 stuck, 0 at a quiet pipe or terminal, 0 idle, 0 ran

3 threads of pool[8] wait for one lock, 0x10, the longest for 3 s; pool[8/12] holds it, and sits
  in recvfrom(7) for ≥ 3.5 s: tcp a – b:5432

15 min 0 s  idle[8/20] read(0)
       1 s  alone[8/13] futex · futex 0x20, a lock that x[14] holds
`},
		{"a circle", circle, `5 threads of 1 process, twice in 1 s: 5 stuck, 0 at a quiet pipe or terminal, 0 idle, 0 ran

DEADLOCK of 3 threads for 60 s: a[5/6] waits for the lock 0x1 that 7 holds; b[5/7] waits for the
  lock 0x2 that 8 holds; c[5/8] waits for the lock 0x3 that 6 holds

2 threads of a[5] wait for one lock, 0x1, the longest for 60 s; b[5/7] holds it, and sits in futex
  for 61 s

       5 s  e[5/3] futex · futex 0x4, a lock that d[9] holds
`},
	} {
		var b bytes.Buffer
		v := &Blocked{Threads: len(c.rows), Processes: 1, Seconds: 1, Blocked: c.rows}
		if err := WriteBlocked(&b, v, TableOptions{}, false); err != nil {
			t.Fatal(err)
		}
		if b.String() != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, b.String(), c.want)
		}
	}
	if n := len(circles([]BlockedThread{{TID: 4, Lock: "0x1", Holder: 4}})); n != 1 {
		t.Errorf("a thread that waits for its own lock: %d circles", n)
	}
}

// What may not be read is not known, and never nobody.
func TestWhatMayNotBeReadIsNotNobody(t *testing.T) {
	for _, c := range []struct {
		v    Blocked
		want string
	}{
		{Blocked{Threads: 9, Processes: 3, Refused: 9, Seconds: 1}, "9 threads of 3 processes, twice in 1 s: the calls of none may be read, so that nothing is known\n"},
		{Blocked{Threads: 9, Processes: 3, Refused: 2, Seconds: 1}, "9 threads of 3 processes, twice in 1 s: 0 stuck, 0 at a quiet pipe or terminal, 0 idle, 7 ran, 2\n  not known\n"},
		{Blocked{Threads: 9, Processes: 3, Seconds: 1}, "9 threads of 3 processes, twice in 1 s: 0 stuck, 0 at a quiet pipe or terminal, 0 idle, 9 ran\nno thread is stuck\n"},
		{Blocked{Seconds: 1}, "none of those processes has a thread now: they have ended\n"},
	} {
		var b bytes.Buffer
		if err := WriteBlocked(&b, &c.v, TableOptions{}, false); err != nil || b.String() != c.want {
			t.Errorf("%v %q\nwant %q", err, b.String(), c.want)
		}
	}
}
