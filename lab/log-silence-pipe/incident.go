// Package logsilencepipe makes a worker whose standard output is a pipe to a logger that
// stops to read: the worker waits, and its own log is silent.
package logsilencepipe

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"snag/lab"
)

// Incident is log-silence by a reader of the standard output.
var Incident = lab.Incident{
	Name:  "log-silence-pipe",
	Title: "a worker's log falls silent: its standard output is a pipe, and the logger does not read it",
	Long:  true,
	Apart: true,
	Needs: []lab.Tool{lab.IP, {Command: "bash", Package: "bash"}},
	Want: lab.Want{
		Suspect:  "log-silence",
		Subject:  `log-worker`,
		Symptoms: []string{"log-silence"},
	},
	Distractor: "the worker goes on, and keeps the lines of its log back for seconds: they come in bursts",
	Start:      start,
}

func start(s *lab.Stage, v lab.Variant) error {
	app, db := s.Netns("app"), s.Netns("db")
	s.Veth(lab.End{Netns: app, Device: "eth0", Addr: "10.78.9.1/24"}, lab.End{Netns: db, Device: "eth0", Addr: "10.78.9.2/24"})
	server := s.Actor(db, "backend", "rr-server", []string{"--listen", "10.78.9.2:7400", "--wait", "5ms"})
	s.AwaitPrinted(server, "ready")
	log := filepath.Join(s.Dir(), "worker.log")
	hang := lab.At(s, 5*time.Second, time.Minute, time.Minute)
	// The logger is the process that is known, the worker the one that writes to it.
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the running binary: %w", err)
	}
	pipe := `worker=$1; shift; exec "$0" actor line-reader --comm logger --hang "$1" < <(exec "$0" actor log-worker --comm log-worker --to 10.78.9.2:7400 --log "$worker" --echo 30000 $2)`
	keep := ""
	if v == lab.Distractor {
		keep, hang = "--keep", 0
	}
	logger := s.Run(app, "logger", []string{"bash", "-c", pipe, self, log, hang.String(), keep})
	s.AwaitPrinted(logger, "first line")
	switch v {
	case lab.Sick:
		s.BreaksIn(logger, syscall.SIGUSR1)
	case lab.Distractor:
		s.BreaksBy(func() { _ = syscall.Kill(-logger.PID, syscall.SIGUSR1) }) // both: the worker too
	}
	s.Await("lines in the log", 10*time.Second, func() (bool, error) {
		st, err := os.Stat(log)
		return err == nil && st.Size() > 100, err
	})
	return s.Err()
}
