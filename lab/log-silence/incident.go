// Package logsilence makes a worker whose backend stops to answer: it waits, and its log
// is silent.
package logsilence

import (
	"os"
	"path/filepath"
	"syscall"
	"time"

	"snag/lab"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "log-silence",
	Title: "a worker's log falls silent: the worker waits for a backend that does not answer",
	Long:  true,
	Apart: true,
	Needs: []lab.Tool{lab.IP},
	Want: lab.Want{
		Suspect:  "log-silence",
		Subject:  `log-worker`,
		Symptoms: []string{"log-silence"},
	},
	Distractor: "the worker has no work any more, and sleeps: its log is as silent",
	Start:      start,
}

func start(s *lab.Stage, v lab.Variant) error {
	app, db := s.Netns("app"), s.Netns("db")
	s.Veth(lab.End{Netns: app, Device: "eth0", Addr: "10.78.6.1/24"}, lab.End{Netns: db, Device: "eth0", Addr: "10.78.6.2/24"})
	backend := []string{"--listen", "10.78.6.2:7400", "--wait", "5ms"}
	hang := lab.At(s, 4*time.Second, time.Minute, time.Minute)
	server := s.Actor(db, "backend", "rr-server", append(backend, "--hang", hang.String()))
	s.AwaitPrinted(server, "ready")
	log := filepath.Join(s.Dir(), "worker.log")
	worker := s.Actor(app, "log-worker", "log-worker", []string{"--to", "10.78.6.2:7400", "--log", log})
	s.AwaitPrinted(worker, "ready")
	// The log's pace is to be seen before it falls silent.
	switch v {
	case lab.Sick:
		s.BreaksIn(server, syscall.SIGUSR1)
	case lab.Distractor:
		s.BreaksIn(worker, syscall.SIGUSR1)
	}
	s.Await("lines in the log", 10*time.Second, func() (bool, error) {
		st, err := os.Stat(log)
		return err == nil && st.Size() > 100, err
	})
	return s.Err()
}
