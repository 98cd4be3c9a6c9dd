package symbols

import (
	"os"
	"testing"
)

// What is kept of processes that ended is bounded, and smaller for who asks for days.
func TestFramesOfAllProcessesAreBounded(t *testing.T) {
	r := NewBounded("/proc", TablesLean)
	defer r.Close()
	var all []*Image
	for pid := range 300 {
		p := r.process(1<<30 + pid) // there is none
		all = append(all, p)
		for addr := range uint64(200) {
			r.keep(p, addr, known{why: named})
		}
		if len(r.processes) > leanProcesses {
			t.Fatalf("%d processes are kept", len(r.processes))
		}
	}
	sum := 0
	for _, p := range all {
		sum += len(p.known)
	}
	if sum > leanKnown || sum == 0 {
		t.Errorf("%d frames are kept, at most %d are to be", sum, leanKnown)
	}
	if f := r.User(os.Getpid(), []uint64{pc(TestFramesOfAllProcessesAreBounded) + 1}); len(f) != 1 || !f[0].Named {
		t.Errorf("%+v", f)
	}
}

// A process whose frames were forgotten is asked for again, and has the same names.
func TestForgottenFramesAreReadAgain(t *testing.T) {
	r := NewBounded("/proc", TablesLean)
	defer r.Close()
	addr := []uint64{pc(TestForgottenFramesAreReadAgain) + 1}
	before := r.User(os.Getpid(), addr)
	r.forgetFrames(r.processes[os.Getpid()])
	if after := r.User(os.Getpid(), addr); len(after) != 1 || after[0].Function != before[0].Function {
		t.Errorf("%+v, before %+v", after, before)
	}
}
