// Package workerqueueprocesses makes a gunicorn whose two workers are processes, each of
// which sleeps in a request, and more requests than they can take.
package workerqueueprocesses

import (
	"fmt"
	"strings"
	"time"

	"snag/lab"
)

// Incident is worker-queue in a server of processes that share one listener.
var Incident = lab.Incident{
	Name:  "worker-queue-processes",
	Title: "gunicorn: two workers, each a process, that sleep 50 ms in each request, and more requests than they can take",
	Long:  true,
	Apart: true,
	Needs: []lab.Tool{lab.IP, {Command: "gunicorn", Package: "gunicorn"}},
	Want: lab.Want{
		Suspect: "worker-queue",
		Subject: `gunicorn|:8080`,
	},
	Distractor: "workers enough, each of which takes 400 ms: the answers are as late, and nobody queues",
	Start:      start,
}

const app = `import time

def app(environ, start_response):
    time.sleep(%g)
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "3")])
    return [b"ok\n"]
`

func start(s *lab.Stage, v lab.Variant) error {
	ns := s.Netns("api")
	workers, nap := 2, 0.05 // 40 requests per second
	switch v {
	case lab.Healthy:
		workers = 10
	case lab.Distractor:
		workers, nap = 10, 0.4
	}
	s.File("app.py", fmt.Sprintf(app, nap))
	server := s.Run(ns, "gunicorn", []string{"gunicorn", "--workers", fmt.Sprint(workers), "--bind", "127.0.0.1:8080", "--chdir", s.Dir(), "app:app"})
	s.AwaitOutput(server, "every worker has begun", func(printed string) bool {
		return strings.Count(printed, "Booting worker") >= workers
	})
	// 8 clients, each of which asks again once it was answered and that time is over.
	every := lab.At(s, 160*time.Millisecond, 80*time.Millisecond, 20*time.Millisecond)
	client := s.Actor(ns, "client", "http-client", []string{"--url", "http://127.0.0.1:8080/", "--conns", "8", "--every", every.String()})
	s.AwaitPrinted(client, "answers")
	s.Pause(time.Second)
	return s.Err()
}
