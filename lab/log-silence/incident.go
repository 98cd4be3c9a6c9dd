// Package logsilence makes a worker whose backend stops to answer: it waits, and its log
// is silent.
package logsilence

import (
	"os"
	"path/filepath"
	"time"

	"snag/lab"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "log-silence",
	Title: "a worker's log falls silent: the worker waits for a backend that does not answer",
	Long:  true,
	Needs: []lab.Tool{lab.IP},
	Want: lab.Want{
		Suspect:  "log-silence",
		Subject:  `log-worker`,
		Symptoms: []string{"log-silence"},
	},
	Distractor: "the worker has no work any more, and sleeps: its log is as silent",
	Start:      start,
}

// begins is when the silence begins, of the worker's life: snag find must have seen
// the log's pace before.
const begins = 6 * time.Second

func start(s *lab.Stage, v lab.Variant) error {
	app, db := s.Netns("app"), s.Netns("db")
	s.Veth(lab.End{Netns: app, Device: "eth0", Addr: "10.78.6.1/24"}, lab.End{Netns: db, Device: "eth0", Addr: "10.78.6.2/24"})
	backend := []string{"--listen", "10.78.6.2:7400", "--wait", "5ms"}
	if v == lab.Sick {
		hang := lab.At(s, 4*time.Second, time.Minute, time.Minute)
		backend = append(backend, "--hang-at", begins.String(), "--hang", hang.String())
	}
	s.AwaitPrinted(s.Actor(db, "backend", "rr-server", backend), "ready")
	log := filepath.Join(s.Dir(), "worker.log")
	worker := []string{"--to", "10.78.6.2:7400", "--log", log}
	if v == lab.Distractor {
		worker = append(worker, "--work", begins.String())
	}
	s.AwaitPrinted(s.Actor(app, "log-worker", "log-worker", worker), "ready")
	s.Await("lines in the log", 10*time.Second, func() (bool, error) {
		st, err := os.Stat(log)
		return err == nil && st.Size() > 100, err
	})
	return s.Err()
}
