package offcpu

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/cilium/ebpf"

	"snag/probes/threads"
)

// change reports which processes are to be looked at from now on, and which no more.
func change(now []int, before map[int]bool) (add, drop []int) {
	wanted := map[int]bool{}
	for _, pid := range now {
		wanted[pid] = true
		if !before[pid] {
			add = append(add, pid)
		}
	}
	for pid := range before {
		if !wanted[pid] {
			drop = append(drop, pid)
		}
	}
	slices.Sort(add)
	slices.Sort(drop)
	return add, drop
}

// mostSeeded threads of a process are looked at when it is first looked at: those
// that were off the CPU before.
const mostSeeded = 4096

// seed tells the kernel's side which threads of a process are off the CPU already, as
// /proc shows them. Since when, nobody can tell: since now.
func (k *inKernel) seed(proc string, pid int, now uint64) error {
	dir := proc + "/" + strconv.Itoa(pid) + "/task"
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	names, err := f.Readdirnames(mostSeeded)
	if err != nil {
		return fmt.Errorf("list the threads of process %d: %w", pid, err)
	}
	for _, name := range names {
		tid, err := strconv.ParseUint(name, 10, 32)
		if err != nil {
			continue
		}
		t, ok := atRest(dir+"/"+name, uint32(pid), now)
		if !ok {
			continue
		}
		err = k.objects.Threads.Update(uint32(tid), &t, ebpf.UpdateNoExist)
		if errors.Is(err, ebpf.ErrKeyExist) {
			continue // it moved meanwhile: the kernel knows better
		}
		if err != nil {
			return fmt.Errorf("note the threads of process %d: %w", pid, err)
		}
		// Did it wake between the look and the note? Then the note is wrong until it
		// leaves the CPU again.
		if !rests(dir + "/" + name) {
			var is kernelThread
			if k.objects.Threads.Lookup(uint32(tid), &is) == nil && is.Seeded != 0 {
				_ = k.objects.Threads.Delete(uint32(tid)) // or it has gone by itself
			}
		}
	}
	return nil
}

// nrCompat is NR_COMPAT: the number is of a 32-bit program.
const nrCompat = 1 << 28

// callName names a number of the kernel side's.
func callName(nr int32) string {
	if nr >= 0 && nr&nrCompat != 0 {
		return threads.CompatName(int(nr &^ nrCompat))
	}
	return threads.CallName(int(nr))
}

// rests reports whether a thread is off its CPU still.
func rests(dir string) bool {
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return false
	}
	_, state, err := threads.ParseStat(stat)
	return err == nil && howOf[state] != 0
}

// howOf is how a thread left its CPU, by the letter of its state; 0: it is on it, or
// waits for it.
var howOf = map[string]uint8{"S": howSleep, "D": howDisk, "T": howStopped, "t": howStopped}

// atRest reads a thread that is off its CPU and does not wait for one; dir is its
// folder below /proc/PID/task.
func atRest(dir string, pid uint32, now uint64) (kernelThread, bool) {
	t := kernelThread{Start: now, Tgid: pid, Nr: -1, Kstack: noStack, Ustack: noStack, WakerKstack: noStack, WakerUstack: noStack, Seeded: 1}
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return t, false
	}
	comm, state, err := threads.ParseStat(stat)
	if err != nil {
		return t, false
	}
	copy(t.Comm[:15], comm)
	if t.How = howOf[state]; t.How == 0 {
		return t, false
	}
	if b, err := os.ReadFile(dir + "/syscall"); err == nil {
		r, err := threads.ParseRegisters(bytes.TrimSpace(b))
		if err != nil {
			return t, false
		}
		t.Nr, t.Args, t.Ip, t.Sp = int32(r.Call), [3]uint64(r.Args[:3]), r.PC, r.SP
		if r.Call >= 0 && r.Compat(dir+"/../../exe") {
			t.Nr |= nrCompat
		}
	}
	return t, true
}
