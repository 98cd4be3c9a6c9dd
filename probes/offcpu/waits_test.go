package offcpu

import (
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"snag/recording"
)

// said names stacks as their ids say: 10 is the kernel's of futex, 20 of an interrupt.
type said struct{}

func (said) id(p pair) int {
	if p.kernel < 0 && p.thread < 0 {
		return 0
	}
	return int(1000*(p.kernel+1) + p.thread + 1)
}

func (said) kernel(id int32) []string {
	return map[int32][]string{10: {"futex_wait_queue"}, 11: {"wait_woken", "tcp_recvmsg"}, 20: {"hrtimer_wakeup", "sysvec_apic_timer_interrupt"}, 21: {"futex_wake"}}[id]
}

func (said) function(p pair) string {
	if p.thread < 0 {
		return ""
	}
	return "held_by"
}

func comm(s string) (b [16]uint8) {
	copy(b[:], s)
	return b
}

func noFile(int, int) string { return "" }

func TestWaitRow(t *testing.T) {
	w := wait{kernelWaitKey{Object: 7, Tgid: 60, Tid: 61, Nr: unix.SYS_READ, Kstack: 11, Ustack: 3, How: howSleep},
		kernelWaitValue{N: 4, Sum: 2e9, Max: 15e8, MaxAt: 5e9, Comm: comm("api"), Waker: kernelWaker{Tgid: 70, Tid: 71, Kstack: 20, Ustack: 2, Votes: 1, Known: 1, Comm: comm("other")}}}
	got := waitRow(9, recording.Anchor{}, w, said{}, said{}, noFile)
	if got.Reason != recording.WaitSocket || got.Call != "read" || got.FD == nil || *got.FD != 7 || got.Futex != 0 ||
		got.Sum != 2 || got.Max != 1.5 || got.N != 4 || got.MaxAt != 5e9 || got.Comm != "api" || got.Stack != 12004 {
		t.Errorf("%+v", got)
	}
	if got.WakerPID != 0 || got.WakerComm != "interrupt" || got.WakerStack != 0 {
		t.Errorf("woken by an interrupt, not by whom it interrupted: %+v", got)
	}
	w.value.Waker.Kstack = 21
	if got = waitRow(9, recording.Anchor{}, w, said{}, said{}, noFile); got.WakerPID != 70 || got.WakerTID != 71 || got.WakerComm != "other" || got.WakerStack == 0 {
		t.Errorf("waker: %+v", got)
	}
	w.key.Nr, w.key.Kstack, w.key.Object = unix.SYS_FUTEX, 10, 0x7f0000001000
	if got = waitRow(9, recording.Anchor{}, w, said{}, said{}, noFile); got.Reason != recording.WaitFutex || got.Futex != 0x7f0000001000 || got.FD != nil {
		t.Errorf("futex: %+v", got)
	}
	w.key = kernelWaitKey{Object: noObject, Tgid: 60, Tid: 61, Nr: -1, Kstack: noStack, Ustack: noStack, How: howReady, Queued: 1}
	if got = waitRow(9, recording.Anchor{}, w, said{}, said{}, noFile); got.Reason != recording.WaitRunQueue || got.Call != "" || got.FD != nil || got.Stack != 0 {
		t.Errorf("run queue: %+v", got)
	}
	w.key = kernelWaitKey{Object: 5, Tgid: 60, Tid: 61, Nr: unix.SYS_READ, Kstack: noStack, Ustack: noStack, How: howSleep}
	if got = waitRow(9, recording.Anchor{}, w, said{}, said{}, func(int, int) string { return "socket:[1]" }); got.Reason != recording.WaitSocket {
		t.Errorf("without a stack, by the descriptor: %+v", got)
	}
}

func TestFoldWaits(t *testing.T) {
	fd := 3
	rows := []recording.OffCPU{
		{PID: 1, TID: 2, Reason: "socket", Call: "read", FD: &fd, Stack: 5, N: 1, Sum: 1, Max: 1, MaxAt: 10, WakerComm: "a"},
		{PID: 1, TID: 2, Reason: "socket", Call: "read", FD: &fd, Stack: 5, N: 2, Sum: 4, Max: 3, MaxAt: 20, WakerComm: "b"},
		{PID: 1, TID: 3, Reason: "futex", Stack: 6, N: 1, Sum: 0.5, Max: 0.5},
		{PID: 1, TID: 4, Reason: "futex", Stack: 7, N: 1, Sum: 0.25, Max: 0.25, Comm: "x"},
		{PID: 1, TID: 5, Reason: "sleep", N: 1, Sum: 0.125, Max: 0.125},
	}
	all := foldWaits(slices.Clone(rows), 100)
	if len(all) != 4 || all[0].N != 3 || all[0].Sum != 5 || all[0].Max != 3 || all[0].MaxAt != 20 || all[0].WakerComm != "b" {
		t.Fatalf("%+v", all)
	}
	few := foldWaits(slices.Clone(rows), 1)
	var n uint64
	sum := 0.0
	for _, r := range few {
		n, sum = n+r.N, sum+r.Sum
	}
	if len(few) != 3 || n != 6 || sum != 5.875 {
		t.Fatalf("nothing may be lost when rows are added up: %+v", few)
	}
	if few[1].TID != 0 || few[1].Stack != 0 || few[1].Reason != "futex" || few[1].N != 2 {
		t.Errorf("the rest by reason: %+v", few[1])
	}
}

func TestStill(t *testing.T) {
	const ms = 1_000_000
	all := map[uint32]kernelThread{
		1: {Start: 100 * ms, Tgid: 9, Nr: unix.SYS_READ, Args: [3]uint64{4}, How: howSleep, Kstack: 11, Ustack: 1},
		2: {Start: 0, Tgid: 9},                                                     // runs
		3: {Start: 1100 * ms, Woken: 1150 * ms, Tgid: 9, How: howSleep, Nr: 0},     // woken, and waits for a CPU
		4: {Start: 1999*ms + ms/2, Tgid: 9, How: howSleep},                         // under the threshold
		5: {Start: 1900 * ms, Tgid: 9, How: howReady, Nr: unix.SYS_READ, Woken: 1}, // preempted
		6: {Start: 3000 * ms, Tgid: 9, How: howSleep},                              // after the look
	}
	got := still(all, 2000*ms, ms)
	sums := map[uint32]uint64{}
	for _, w := range got {
		if w.key.How == howReady {
			sums[w.key.Tid+100] += w.value.Sum
		} else {
			sums[w.key.Tid] += w.value.Sum
		}
	}
	want := map[uint32]uint64{1: 1900 * ms, 3: 50 * ms, 103: 850 * ms, 105: 100 * ms}
	for tid, ns := range want {
		if sums[tid] != ns {
			t.Errorf("thread %d: %d, want %d", tid, sums[tid], ns)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d waits: %+v", len(got), got)
	}
}
