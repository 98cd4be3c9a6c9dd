// Package gunicorn draws incidents of a gunicorn with sync workers, whose WSGI program
// asks an upstream for each answer and counts in SQLite.
package gunicorn

import (
	_ "embed"
	"fmt"
	"math"
	"sync"
	"syscall"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/pyclient"
	"snag/lab/real/backend"
)

//go:embed report.py
var report string

// Family is gunicorn.
var Family = drawn.Family{
	Name: "gunicorn", Kind: drawn.Processes, Origin: drawn.Real, Software: []string{"gunicorn", "SQLite"},
	Needs: []lab.Tool{lab.IP, lab.Unshare, {Command: "gunicorn", Package: "gunicorn"}},
	Faults: []drawn.Fault{
		{Name: "few-workers", Suspects: []string{"worker-queue"}, Subject: `gunicorn|:8000`, Also: []string{"listen-overflow"}, Account: "in line"},
		{Name: "slow-upstream", Suspects: []string{"slow-dependency"}, Subject: backend.Subject, Also: []string{"worker-queue", "listen-overflow"}, Account: "call"},
		{Name: "worker-timeout", Suspects: []string{"service-killed", "slow-dependency"}, Subject: `gunicorn|:8000|` + backend.Subject, Also: []string{"worker-queue", "listen-overflow", "peer-reset"}, Account: "call"},
		{Name: "oom-killed", Suspects: []string{"service-killed", "memory-limit"}, Subject: `gunicorn|:8000|web-app`, Also: []string{"peer-reset", "worker-queue"}, Account: "errors"},
		{Name: "slow-dns", Suspects: []string{"slow-dependency"}, Subject: backend.NamesSubject, Also: []string{"worker-queue", "listen-overflow"}, Account: "call"},
		{Name: "sqlite-lock", Suspects: []string{"session-lock", "lock-convoy"}, Subject: `stock-report|stock\.db|gunicorn`, Also: []string{"worker-queue", "listen-overflow"}, Account: "lock"},
	},
	Build: build,
}

func build(b *drawn.Bench) {
	net := b.Net()
	busy := b.LogUniform("busy workers", 0.3, 5)
	l := b.LoadOf(240)
	answer := time.Duration(min(400e6, max(2e6, busy/l.Rate*1e9)))
	busy = l.Rate * (answer + 4*time.Millisecond).Seconds()
	workers := 2 + int(math.Ceil(2.5*busy))
	b.Values["workers"], b.Values["answers take"] = workers, answer.String()
	l = backend.Load(b, net, 240, answer, 2)
	flag, up := backend.NewFlag(b), startUpstream(b, net, answer)
	names := startNames(b, net)
	env := []string{"UPSTREAM=" + up.Addr, "FLAG=" + flag.Path}
	env = append(env, leak(b, l, flag)...)
	if b.Chance("looks its upstream up", 0.3) || b.Fault.Name == "slow-dns" {
		env = append(env, "NAME=billing.example.com")
	}
	if b.Chance("counts in SQLite", 0.3) || b.Fault.Name == "sqlite-lock" {
		env = append(env, "DB="+stock(b, net, flag))
	}
	b.File("shop.py", backend.Shop)
	args := b.Resolving(names.Conf(), "gunicorn", "--preload", "--workers", fmt.Sprint(workers), "--bind", net.At(8000), "--timeout", "1", "--chdir", b.Dir(), "shop:app")
	opts := []lab.Option{lab.In(b.LittleMemory("web-app", 60+10*workers+b.Int("MiB of memory to spare", 60, 250)))}
	for _, e := range env {
		opts = append(opts, lab.Env(e))
	}
	server := b.Run(net.Server, "gunicorn", args, opts...)
	b.AwaitPrinted(server, "Booting worker")

	left := max(1, int(busy*b.Uniform("workers left for the busy ones", 0.3, 0.95)))
	if b.Fault.Name == "few-workers" {
		b.Amount("%d workers where %.1f are busy on average", left, busy)
	}
	var mu sync.Mutex
	change := func(sig syscall.Signal) func() {
		return func() {
			go func() { // gunicorn takes them one by one
				mu.Lock()
				defer mu.Unlock()
				for range workers - left {
					if b.Context().Err() != nil || syscall.Kill(server.PID, sig) != nil {
						return
					}
					time.Sleep(25 * time.Millisecond)
				}
			}()
		}
	}
	b.Switch("few-workers", change(syscall.SIGTTOU), change(syscall.SIGTTIN))
	pyclient.Start(b, net.Client, "shop-client", "http", net.At(8000), l)
}

func startUpstream(b *drawn.Bench, net drawn.Net, answer time.Duration) backend.Upstream {
	slow := min(3*time.Second, time.Duration(float64(answer)*b.LogUniform("upstream gets slower", 3, 50)))
	share := b.LogUniform("share that is never answered", 0.01, 0.2)
	then := []string{"--slow", slow.String()}
	if b.Fault.Name == "worker-timeout" {
		then = []string{"--then", "silent", "--share", fmt.Sprint(share)}
		b.Amount("%.1f %% of the calls are never answered, and workers are killed after 1 s", 100*share)
	}
	up := backend.Start(b, net.Server, answer, then...)
	if b.Fault.Name == "slow-upstream" {
		b.Amount("the upstream takes %v, not %v", slow, answer)
	}
	b.Switch("slow-upstream", up.Toggle, up.Toggle)
	b.Switch("worker-timeout", up.Toggle, up.Toggle)
	return up
}

func startNames(b *drawn.Bench, net drawn.Net) backend.Names {
	slow := b.Duration("names take", 50*time.Millisecond, 1500*time.Millisecond)
	flags := []string{"--wait", "500us", "--slow", slow.String(), "--then", "slow"}
	if b.Fault.Name == "slow-dns" {
		b.Amount("each look-up takes %v", slow)
	}
	n := backend.StartNames(b, net.Server, flags...)
	b.Switch("slow-dns", n.Toggle, n.Toggle)
	return n
}

// leak is a program that keeps some of what each request needed, until its group's memory
// is full and a worker is killed.
func leak(b *drawn.Bench, l drawn.Load, flag backend.Flag) []string {
	kib := int(b.LogUniform("MiB leaked per second", 60, 500) * 1024 / l.Rate)
	if b.Fault.Name != "oom-killed" {
		return nil
	}
	b.Amount("each request leaks %d KiB", kib)
	b.Switch("oom-killed", flag.On, flag.Off)
	return []string{fmt.Sprintf("LEAK=%d", kib<<10)}
}

// stock makes the database, and starts the report that locks it.
func stock(b *drawn.Bench, net drawn.Net, flag backend.Flag) string {
	path := b.Dir() + "/stock.db"
	b.Command("", pyclient.Python, "-c", fmt.Sprintf(`import sqlite3
db = sqlite3.connect(%q)
db.execute("CREATE TABLE stock (id INTEGER PRIMARY KEY, sold INTEGER)")
db.executemany("INSERT INTO stock VALUES (?, 0)", [(i,) for i in range(50)])
db.commit()`, path))
	hold, pause := b.Duration("report holds the lock", 80*time.Millisecond, 2*time.Second), b.Duration("report pauses", 20*time.Millisecond, 500*time.Millisecond)
	p := b.Run(net.Server, "stock-report", []string{pyclient.Python, b.File("report.py", report), path, flag.Path, fmt.Sprint(hold.Seconds()), fmt.Sprint(pause.Seconds())})
	b.AwaitPrinted(p, "ready")
	if b.Fault.Name == "sqlite-lock" {
		b.Amount("the report holds the lock for %v, every %v", hold, hold+pause)
	}
	b.Switch("sqlite-lock", flag.On, flag.Off)
	return path
}
