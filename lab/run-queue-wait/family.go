package runqueuewait

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"snag/lab"
	"snag/lab/anyserver"
	"snag/lab/drawn"
)

// Family draws the incident: CPU 0 has a service, in any language, that is bound to it
// from the start or from some time on, and a batch job of several threads.
var Family = drawn.Family{
	Name: "run-queue-wait", Kind: drawn.Host, Origin: drawn.Lab, Needs: anyserver.Needs, Alone: true,
	Faults: []drawn.Fault{
		{Name: "batch-on-its-cpu", Suspects: suspects, Subject: subject, Account: "cpu"},
		{Name: "bound-to-the-busy-cpu", Suspects: suspects, Subject: subject, Account: "cpu"},
	},
	Build: buildFamily,
}

var (
	suspects = []string{"run-queue-wait", "cpu-saturated"}
	subject  = `report-batch|` + anyserver.Subject("api-server", ":8081")
)

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	o := anyserver.Options{Language: anyserver.LanguageOf(b, "server"), Workers: b.Int("workers", 3, 32)}
	o.Work = b.Duration("CPU time of a request", 300*time.Microsecond, 6*time.Millisecond)
	if b.Chance("requests wait", 0.4) {
		o.Wait = b.Duration("time of a request besides", time.Millisecond, 40*time.Millisecond)
	}
	threads := b.Int("batch's threads", 2, 16)
	args := []string{"--threads", fmt.Sprint(threads)}
	starts := b.Fault.Name == "batch-on-its-cpu"
	if starts { // the service is bound in both runs, and the batch job starts
		o.Run = []lab.Option{lab.On("0")}
		args = append(args, "--switched")
	} // else the batch job runs in both, and the service may go elsewhere
	l := o.LoadOf(b, net.RTT, 0)
	server := anyserver.Start(b, net.Server, "api-server", net.At(8081), o)
	batch := b.Actor("", "report-batch", "burner", args, lab.On("0"))
	b.AwaitPrinted(batch, "ready")
	turn := func() { b.Signal(batch, syscall.SIGUSR1) }
	b.Switch("batch-on-its-cpu", turn, turn)
	b.Switch("bound-to-the-busy-cpu", func() { bind(b, server.PID, "0") }, func() { bind(b, server.PID, "") })
	b.Amount("a service that needs %.0f %% of CPU 0, beside %d threads that want all of it", 100*l.Rate*o.CPU().Seconds(), threads)
	b.Ask(net.Client, "api-client", net.At(8081), l)
}

// bind has all threads of a process run on CPU 0, or anywhere.
func bind(b *drawn.Bench, pid int, cpu string) {
	var set unix.CPUSet
	if cpu == "0" {
		set.Set(0)
	} else if err := unix.SchedGetaffinity(0, &set); err != nil {
		b.Fail("bind", err)
		return
	}
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil || len(tasks) == 0 {
		b.Fail("bind", fmt.Errorf("list the threads of process %d: %w", pid, os.ErrNotExist))
	}
	for _, task := range tasks {
		tid, _ := strconv.Atoi(filepath.Base(task))
		if err := unix.SchedSetaffinity(tid, &set); err != nil && !errors.Is(err, unix.ESRCH) { // it may have ended
			b.Fail("bind", fmt.Errorf("bind thread %d: %w", tid, err))
		}
	}
}
