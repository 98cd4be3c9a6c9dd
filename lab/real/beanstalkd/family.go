// Package beanstalkd draws incidents of beanstalkd, through which clients ask workers.
package beanstalkd

import (
	_ "embed"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/pyclient"
	"snag/lab/real/datadir"
)

//go:embed worker.py
var worker string

const subject = `beanstalkd|:11300`

// Family is beanstalkd with its workers.
var Family = drawn.Family{
	Name: "beanstalkd", Kind: drawn.Broker, Origin: drawn.Real, Software: []string{"beanstalkd"},
	Needs: []lab.Tool{lab.IP, lab.Losetup, lab.Mkfs, {Command: "prlimit", Package: "util-linux"}, {Command: "beanstalkd", Package: "beanstalkd"}, {Command: pyclient.Python, Package: "python3"}},
	Faults: []drawn.Fault{
		{Name: "slow-disk", Suspects: []string{"disk-stall"}, Subject: subject + `|loop|vd|sd|nvme|/log|slow`, Also: []string{"slow-dependency", "busy-thread"}, Account: "disk"},
		{Name: "full-disk", Suspects: []string{"syscall-failing", "error-answers"}, Subject: subject + `|/log`, Account: "errors"},
		{Name: "few-workers", Suspects: []string{"worker-queue", "receiver-too-slow"}, Subject: subject + `|order-worker`, Also: []string{"slow-dependency", "slow-consumer"}, Account: "in line"},
		{Name: "worker-stopped", Suspects: []string{"process-stopped"}, Subject: `order-worker`, Also: []string{"slow-dependency", "worker-queue"}, Account: "stopped"},
		{Name: "file-descriptors", Suspects: []string{"fd-limit", "connection-limit"}, Subject: subject + `|leaky-app`, Also: []string{"listen-overflow", "syscall-failing"}, Account: "accept queue"},
		{Name: "draining", Suspects: []string{"error-answers"}, Subject: subject, Account: "errors", Whole: true},
	},
	Build: build,
}

func build(b *drawn.Bench) {
	n := b.Net()
	l := b.LoadOf(400)
	if b.Fault.Name == "slow-disk" { // the disk itself manages a hundred writes per second
		l.Rate = min(l.Rate, 25)
	}
	busy := b.LogUniform("busy workers", 0.2, 5)
	switch b.Fault.Name {
	case "few-workers": // one worker alone must be too few
		busy = max(busy, 1.5)
	case "worker-stopped": // there is one: a stopped one of many holds up one job
		busy = min(busy, 0.4)
	}
	takes := time.Duration(min(400e6, max(1e6, busy/l.Rate*1e9)))
	busy = l.Rate * (takes + 2*time.Millisecond).Seconds()
	workers := 1 + int(math.Ceil(2*busy))
	if b.Fault.Name == "worker-stopped" {
		workers = 1
	}
	b.Values["workers"], b.Values["a job takes"] = workers, takes.String()
	if l.Fresh = b.Chance("a connection for each request", 0.2) || b.Fault.Name == "file-descriptors"; l.Fresh {
		l.Rate = min(l.Rate, 150)
	}
	l = l.Within(takes + n.Trips(l, 5, 7))

	most := 2*l.Conns + workers + b.Int("descriptors to spare", 20, 200)
	disk := b.SlowDisk("slow", 0)
	broker, volume := serve(b, n, disk, most)
	startWorkers(b, n, workers, busy, takes)
	pyclient.Start(b, n.Client, "order-app", "beanstalk", n.At(11300), l, fmt.Sprintf("size=%d", l.Size), fmt.Sprintf("timeout=%d", b.Int("clients give up after s", 1, 20)))

	// An answer takes four writes of the log, each with an fsync: two jobs are put, and deleted.
	b.SwitchWrites("slow-disk", disk, int(b.LogUniform("disk's writes, of 16 kB per request", 0.1, 1)*l.Rate*16384))
	old := filepath.Join(volume, "old-backup")
	b.Switch("full-disk", func() {
		if err := datadir.Fill(old); err != nil {
			b.Fail("full-disk", err)
		}
	}, func() { os.Remove(old) })
	pyclient.SwitchSessions(b, "file-descriptors", n.Client, "leaky-app", pyclient.Sessions{Protocol: "beanstalk", To: n.At(11300), Conns: most, Do: []string{"stats"}})
	// USR1 tells it to take no more jobs, before it is replaced. There is no way back.
	b.Switch("draining", func() { b.Signal(broker, syscall.SIGUSR1) }, nil)
	switch b.Fault.Name {
	case "full-disk":
		b.Amount("no room on the disk of the log")
	case "file-descriptors":
		b.Amount("%d descriptors, and as many connections of a program that leaves them open", most)
	case "draining":
		b.Amount("no more jobs are taken")
	}
}

// serve starts the broker; where the fault needs a disk, and in half of the other draws, it
// writes a log of its jobs. The folder of the log is a disk of its own.
func serve(b *drawn.Bench, n drawn.Net, slow *lab.Cgroup, most int) (broker *lab.Process, log string) {
	argv := []string{"beanstalkd", "-l", n.Addr, "-p", "11300", "-z", "1000000"}
	var opts []lab.Option
	if onDisk := b.Fault.Name == "slow-disk" || b.Fault.Name == "full-disk"; b.Chance("keeps a log", 0.5) || onDisk {
		log = filepath.Join(b.Volume("log", 64).Mount, "jobs")
		datadir.For(b, log, "beanstalkd")
		sync := b.Int("fsync every ms", 1, 500)
		if b.Fault.Name == "slow-disk" {
			sync = 0 // every write
			opts = append(opts, lab.In(slow))
		}
		argv = append(argv, "-b", log, "-f", fmt.Sprint(sync), "-s", fmt.Sprint(b.Int("bytes of a file of the log", 100_000, 10_000_000)))
	}
	argv = datadir.As("beanstalkd", argv...)
	if b.Fault.Name == "file-descriptors" {
		argv = datadir.WithFiles(most, argv...)
	}
	broker = b.Run(n.Server, "beanstalkd", argv, opts...)
	b.Await("beanstalkd to listen", 10*time.Second, b.Listens(n.Server, ":11300"))
	return broker, filepath.Dir(log)
}

// startWorkers starts them beside the broker. Few are left while there are too few.
func startWorkers(b *drawn.Bench, n drawn.Net, workers int, busy float64, takes time.Duration) {
	program := b.File("worker.py", worker)
	procs := make([]*lab.Process, workers)
	start := func(i int) {
		procs[i] = b.Run(n.Server, "order-worker", []string{pyclient.Python, program, pyclient.Dir(b), n.At(11300), fmt.Sprint(takes.Seconds())})
	}
	for i := range procs {
		start(i)
	}
	for _, p := range procs {
		b.AwaitPrinted(p, "ready")
	}
	left := max(1, int(busy*b.Uniform("workers left for the busy ones", 0.3, 0.95)))
	if b.Fault.Name == "few-workers" {
		b.Amount("%d workers where %.1f are busy on average", left, busy)
	}
	b.Switch("few-workers", func() {
		for _, p := range procs[left:] {
			b.Stop(p)
		}
	}, func() {
		for i := left; i < workers; i++ {
			start(i)
		}
	})
	b.SwitchStops("worker-stopped", procs[0].PID, 300*time.Millisecond, 5*time.Second)
}
