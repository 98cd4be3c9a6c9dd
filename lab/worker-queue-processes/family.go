package workerqueueprocesses

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/pyclient"
)

// Family draws the incident: a gunicorn whose workers are processes of one request at a
// time, too few for what is asked of them, or each of whose requests becomes slower.
var Family = drawn.Family{
	Name: "worker-queue-processes", Kind: drawn.Processes, Origin: drawn.Real, Software: []string{"gunicorn"},
	Needs: []lab.Tool{lab.IP, {Command: "gunicorn", Package: "gunicorn"}},
	Faults: []drawn.Fault{
		{Name: "few-workers", Suspects: []string{"worker-queue"}, Subject: `gunicorn|:8080`, Account: "in line", Whole: true},
		{Name: "slower-requests", Suspects: []string{"worker-queue"}, Subject: `gunicorn|:8080`, Account: "in line"},
	},
	Build: buildFamily,
}

// drawnApp sleeps as many microseconds as a link's target says: one system call reads it,
// and it changes at once.
const drawnApp = `import os, time

def app(environ, start_response):
    time.sleep(int(os.readlink(%q)) / 1e6)
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "3")])
    return [b"ok\n"]
`

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	takes := b.Duration("a request takes", 15*time.Millisecond, 150*time.Millisecond)
	const overhead = 3 * time.Millisecond
	// At work of the processes, on average.
	atWork := b.LogUniform("workers that are needed", 0.8, 3)
	l := drawn.Load{Rate: min(60, max(4, atWork/(takes+overhead).Seconds())), Open: b.Chance("open loop", 0.5), Fresh: true}
	atWork = l.Rate * (takes + overhead).Seconds()
	l.Conns = max(b.Int("clients", 2, 32), int(math.Ceil(2*l.Rate*(takes+overhead+4*net.RTT).Seconds())))
	workers := int(math.Ceil(2.2*atWork)) + b.Int("workers to spare", 1, 2)
	beyond := b.LogUniform("demand, of the capacity", 0.8, 4)
	if b.Built("few-workers") {
		workers = max(1, int(math.Round(atWork/beyond)))
		b.Amount("%d workers, of which %.1f are needed", workers, atWork)
	}
	if b.Fault.Name == "slower-requests" { // or nobody would wait in line: slow handlers are no queue
		beyond = max(beyond, drawn.Overload)
		l.Conns = max(l.Conns, 2*workers)
	}
	link := filepath.Join(b.Dir(), "sleeps")
	sleeps := func(d time.Duration) {
		next := link + ".next"
		if err := os.Symlink(strconv.FormatInt(d.Microseconds(), 10), next); err == nil {
			_ = os.Rename(next, link) // the amount of the fault: the clients' log reports if it failed
		}
	}
	sleeps(takes)
	b.File("app.py", fmt.Sprintf(drawnApp, link))
	server := b.Run(net.Server, "gunicorn", []string{"gunicorn", "--workers", fmt.Sprint(workers), "--bind", net.At(8080), "--chdir", b.Dir(), "app:app"})
	b.AwaitOutput(server, "every worker has begun", func(printed string) bool { return strings.Count(printed, "Booting worker") >= workers })
	slow := time.Duration(beyond * float64(workers) / l.Rate * float64(time.Second))
	b.Switch("slower-requests", func() { sleeps(slow) }, func() { sleeps(takes) })
	if b.Fault.Name == "slower-requests" {
		b.Amount("a request takes %v instead of %v: %.1f times what %d workers can do", slow, takes, beyond, workers)
	}
	pyclient.Start(b, net.Client, "web-users", "http", net.At(8080), l)
}
