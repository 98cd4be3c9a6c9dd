package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// capture keeps the largest request that a real recorder sends while the lab makes an incident: the series of one
// host, as a store gets them. It needs root.
func capture(ctx context.Context, snag, lab, incident, file string) error {
	ring, err := os.MkdirTemp("", "benchfleet")
	if err != nil {
		return err
	}
	defer os.RemoveAll(ring)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	var most largest
	server := &http.Server{Handler: &most, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	record := exec.CommandContext(ctx, snag, "record", "--ring", ring, "--remote-write", "http://"+l.Addr().String()+"/api/v1/write")
	record.Stderr = os.Stderr
	if err := record.Start(); err != nil {
		return fmt.Errorf("start the recorder: %w", err)
	}
	run := exec.CommandContext(ctx, lab, "run", incident, "--for", "90s")
	run.Stderr = os.Stderr
	err = run.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 10 { // a culprit was found
		err = nil
	}
	_ = record.Process.Signal(syscall.SIGTERM)
	_ = record.Wait()
	if err != nil {
		return fmt.Errorf("make the incident %s: %w", incident, err)
	}
	return most.write(file)
}

// largest keeps the request with the most series of those that have an incident, or of all.
type largest struct {
	mu       sync.Mutex
	body     []byte
	series   int
	incident bool
}

func (m *largest) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	all, bad := decode(body)
	if err = errors.Join(err, bad); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	incident := false
	for i := range all {
		incident = incident || all[i].get("__name__") == "snag_incident_culprit"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if incident == m.incident && len(all) > m.series || incident && !m.incident {
		m.body, m.series, m.incident = body, len(all), incident
	}
	fmt.Fprintf(os.Stderr, "benchfleet: the recorder sent %d series, %d bytes, incident: %v\n", len(all), len(body), incident)
	w.WriteHeader(http.StatusNoContent)
}

func (m *largest) write(file string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.incident {
		return errors.New("the recorder sent no incident: was the machine too busy? Run it again")
	}
	return os.WriteFile(file, m.body, 0o644)
}
