// Package blocked finds the threads that sit in a system call: it looks at them
// twice and keeps those that did not move meanwhile. It attaches nothing and stops
// nobody; all of it is read from /proc.
package blocked

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"snag/probes/probe"
	"snag/probes/syscalls/descriptor"
	"snag/probes/threads"
	"snag/recording"
)

// Thread is one that sat in a call at both looks.
type Thread struct {
	recording.Thread
	// Since it was on no CPU, as far as can be told; Exact says that this is from the
	// scheduler's own account, and not only since the first look.
	Seconds float64
	Exact   bool
	On      string // what it waits for
	Idle    bool   // threads without work sit so
}

// Found is what two looks saw.
type Found struct {
	Processes, Threads, Running, Left int
	// Refused is of how many threads the call could not be read, and Refusal why.
	Refused  int
	Refusal  error
	Seconds  float64 // between the looks
	Stuck    []Thread
	Warnings []string
	Waiting  []Waiting // operations of io_uring
}

// Look looks at the threads of those processes, waits, and looks again; ctx ends the
// wait early.
func Look(ctx context.Context, env *probe.Env, pids []int, wait time.Duration, most int) Found {
	looker := threads.NewLooker(env.Proc)
	begin := time.Now()
	before, _ := looker.Look(pids, most, env.Now)
	ringsBefore := rings(env.Proc, pids)
	select {
	case <-ctx.Done():
	case <-time.After(wait):
	}
	earlier, _ := looker.Refused()
	after, left := looker.Look(pids, most, env.Now)
	after = slices.DeleteFunc(after, func(t recording.Thread) bool { return t.State == "Z" || t.State == "X" }) // ended, and not yet reaped
	f := Found{Processes: processes(after), Threads: len(after), Left: left, Seconds: time.Since(begin).Seconds()}
	ringsAfter := rings(env.Proc, pids)
	f.Waiting = waiting(env.Proc, ringsBefore, ringsAfter)
	if n := uncounted(ringsAfter); n > 0 {
		f.Warnings = append(f.Warnings, fmt.Sprintf("%d rings of io_uring: whether their operations completed in between is not shown by this kernel (from 5.19 on): snag syscalls counts them", n))
	}
	first := map[int]recording.Thread{}
	for _, t := range before {
		first[t.TID] = t
	}
	for _, t := range after {
		if t.State == "R" {
			f.Running++
		}
		if was, ok := first[t.TID]; ok && still(was, t) {
			f.Stuck = append(f.Stuck, Thread{Thread: t, Seconds: t.T.Sub(was.T).Seconds()})
		}
	}
	slept(env.Proc, f.Stuck)
	f.Stuck = explain(env, f.Stuck)
	if n, err := looker.Refused(); n > earlier {
		f.Refused, f.Refusal = int(n-earlier), err
		f.Warnings = append(f.Warnings, fmt.Sprintf("the calls of %d threads can't be read: %v: %s", f.Refused, err, CureRefused()))
	}
	if left > 0 {
		f.Warnings = append(f.Warnings, fmt.Sprintf("%d threads were not looked at: at most %d are", left, most))
	}
	return f
}

// CureRefused is what lets the calls of other users' threads be read.
func CureRefused() string {
	if os.Geteuid() == 0 {
		return "a sandbox or a security module forbids it to root too; look from the host itself"
	}
	return "run as root, or give the binary CAP_SYS_PTRACE: setcap cap_sys_ptrace+ep snag"
}

// Everyone lists the processes that /proc shows, without the kernel's own threads:
// they wait for work, and in no call.
func Everyone(proc string) ([]int, error) {
	entries, err := os.ReadDir(proc)
	if err != nil {
		return nil, fmt.Errorf("list the processes: %w (is /proc mounted?)", err)
	}
	var out []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if b, err := os.ReadFile(filepath.Join(proc, e.Name(), "stat")); err == nil && !threads.IsKernelThread(b) {
			out = append(out, pid)
		}
	}
	return out, nil
}

func processes(rows []recording.Thread) int {
	pids := map[int]bool{}
	for _, r := range rows {
		pids[r.PID] = true
	}
	return len(pids)
}

// still reports whether a thread sat in the same call at both looks and in between:
// it was on no CPU since.
func still(was, is recording.Thread) bool {
	return was.PID == is.PID && threads.InCall(is.Syscall) && was.Syscall == is.Syscall && was.FD == is.FD && was.Futex == is.Futex &&
		was.OnCPU == is.OnCPU && was.Voluntary == is.Voluntary && was.Involuntary == is.Involuntary && is.State != "R"
}

// explain says what each waits for, and leaves out those that turn out not to be stuck.
func explain(env *probe.Env, stuck []Thread) []Thread {
	reader := descriptor.New(env.Proc, env.Netns)
	rows := map[[2]int]*recording.FD{}
	var all []*recording.FD
	for _, t := range stuck {
		key := [2]int{t.PID, t.FD}
		if t.FD < 0 || rows[key] != nil {
			continue
		}
		if row, err := reader.Look(t.PID, t.FD); err == nil {
			rows[key] = &row
			all = append(all, &row)
		}
	}
	reader.Complete(time.Now(), all)
	waiters := map[lockOf]int{}
	for i := range stuck {
		if t := &stuck[i]; t.Lock {
			waiters[lockOf{t.PID, t.Futex}]++
			if t.Owner == 0 {
				t.Owner = owner(env.Proc, t.PID, t.Futex)
			}
		}
	}
	gone := moved(env.Proc, stuck)
	stuck = slices.DeleteFunc(stuck, func(t Thread) bool { return gone[t.TID] })
	for i := range stuck {
		t := &stuck[i]
		row := rows[[2]int{t.PID, t.FD}]
		// A condition of glibc may wait for the same value as its locks do: what one
		// thread waits for and nobody holds is none.
		t.Lock = t.Lock && (t.Owner != 0 || waiters[lockOf{t.PID, t.Futex}] > 1)
		t.Idle = idle(t.Thread, row)
		switch {
		case row != nil:
			t.On = describe(*row)
		case t.Futex != 0:
			t.On = lock(env.Proc, t.Thread)
		}
	}
	return stuck
}

// handedOver is long enough for a lock that is handed from thread to thread to be
// another's.
const handedOver = 20 * time.Millisecond

// moved looks once more who holds the locks whose holder is one of those that wait for
// them: one that truly waits for itself still does. Where it is another by now, they got
// the lock between the look at them and the look at it: those are returned, and are not
// stuck.
func moved(proc string, stuck []Thread) map[int]bool {
	waits := map[int]lockOf{}
	for _, t := range stuck {
		if t.Lock {
			waits[t.TID] = lockOf{t.PID, t.Futex}
		}
	}
	holders, gone := map[lockOf]int{}, map[int]bool{}
	for i := range stuck {
		t := &stuck[i]
		at := lockOf{t.PID, t.Futex}
		if t.Owner == 0 || waits[t.Owner] != at {
			continue
		}
		holder, asked := holders[at]
		if !asked {
			if len(holders) == 0 {
				time.Sleep(handedOver)
			}
			holder = owner(proc, t.PID, t.Futex)
			holders[at] = holder
		}
		if holder != t.Owner {
			gone[t.Owner], gone[holder] = true, true
			t.Owner = holder
		}
	}
	return gone
}

// idle reports whether threads that have nothing to do sit so: in a call that waits
// for anything, on a futex that is no lock, on a timer. A read of a request that has
// not come can't be told from a stall: it counts as stuck.
func idle(t recording.Thread, row *recording.FD) bool {
	if t.State == "D" {
		return false
	}
	if t.Syscall == "futex" {
		return !t.Lock
	}
	if threads.WaitsForAnything(t.Syscall) {
		return true
	}
	// Timers, events and signals are how a thread sleeps until it is needed.
	return row != nil && slices.Contains([]string{"eventfd", "timerfd", "signalfd", "inotify"}, row.Kind)
}

func describe(row recording.FD) string {
	text := row.Text()
	var queues []string
	if row.RecvQ != nil && *row.RecvQ > 0 {
		queues = append(queues, fmt.Sprintf("%d bytes to read", *row.RecvQ))
	}
	if row.SendQ != nil && *row.SendQ > 0 {
		queues = append(queues, fmt.Sprintf("%d bytes sent that the other end has not taken", *row.SendQ))
	}
	if len(queues) > 0 {
		text += "; " + strings.Join(queues, ", ")
	}
	return text
}

type lockOf struct {
	pid     int
	address uint64
}

// owner is the thread of the process that a lock's own word names; 0 for none.
func owner(proc string, pid int, address uint64) int {
	var b [threads.MutexHead]byte
	if threads.ReadMemory(pid, address, b[:]) != nil {
		return 0
	}
	tid, ok := threads.ParseOwner(b[:])
	if !ok || threads.Comm(proc, pid, tid) == "" {
		return 0
	}
	return tid
}

func lock(proc string, t recording.Thread) string {
	text := "futex 0x" + strconv.FormatUint(t.Futex, 16)
	if !t.Lock {
		return text + ", a condition"
	}
	text += ", a lock"
	if t.Owner != 0 {
		text += fmt.Sprintf(" that %s[%d] holds", threads.Comm(proc, t.PID, t.Owner), t.Owner)
	}
	return text
}
