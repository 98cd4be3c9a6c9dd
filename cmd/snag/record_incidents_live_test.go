package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"snag/fleet/objects"
	"snag/recorder"
	"snag/recording/rectest"
)

// aRingWithAnIncident is one that ended, with its closer look.
func aRingWithAnIncident(t *testing.T, h *trouble) (ring recorder.Ring, recorded []byte) {
	t.Helper()
	ring = recorder.Ring{Dir: filepath.Join(h.dir, "ring")}
	i := recorder.Incident{ID: 7, Start: time.Date(2026, 11, 28, 14, 17, 28, 0, time.UTC), Judgements: 2}
	i.End, i.Standing, i.Hurt, i.Looked = i.Start.Add(time.Minute), "culprit", true, true
	i.Culprits = []recorder.Named{{Name: "udp-receive-buffer-full", Subject: "udp 127.0.0.1:5004", Text: "it was full"}}
	doc, err := json.Marshal(i)
	if err != nil {
		t.Fatal(err)
	}
	recorded, err = os.ReadFile("../../lab/recordings/runtime-pause-g1-sick.snag")
	folder := filepath.Dir(ring.Recording(7))
	err = errors.Join(err, os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, "incident.json"), doc, 0o600), os.WriteFile(ring.Recording(7), recorded, 0o600))
	if err = errors.Join(err, rectest.Write("../../suspects/testdata/udp-receive-buffer-full/guilty.txtar", ring.Look(7))); err != nil {
		t.Fatal(err)
	}
	return ring, recorded
}

// The program sends an incident of its ring, again after kill -9 in the middle of it, and never twice. Another host's
// snag reads it.
func TestRecordSendsIncidents(t *testing.T) {
	h := newTrouble(t)
	ring, recorded := aRingWithAnIncident(t, h)
	store := filepath.Join(h.dir, "store")
	if err := os.Mkdir(store, 0o700); err != nil {
		t.Fatal(err)
	}
	at := loopback(t)
	record := func(rate string) (kill func()) {
		return recordsTo(t, h, "--ring", ring.Dir, "--incidents-to", "file://"+store, "--incidents-rate", rate, "--listen", at)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	name := objects.HostName(host) + "/20261128T141728Z-7"
	there := func(pattern string) bool {
		all, err := filepath.Glob(filepath.Join(store, name, pattern))
		return err == nil && len(all) > 0
	}
	kill := record("16KB")
	within(t, "that it is being sent", func() bool { return there(".recording.snag.*") })
	kill()
	if there("recording.snag") || there("incident.json") {
		t.Fatal("all of it was sent: nothing was cut off")
	}
	kill = record("4MB")
	within(t, "that it is sent", func() bool { return there("incident.json") })
	within(t, "its count", func() bool { return strings.Contains(metricsAt(at), "\nsnag_incidents_sent_total 1\n") })
	kill()
	if b, err := os.ReadFile(filepath.Join(store, name, "recording.snag")); err != nil || !bytes.Equal(b, recorded) || there(".*") {
		t.Errorf("%d bytes of %d, %v", len(b), len(recorded), err)
	}
	if err := os.Remove(filepath.Join(store, name, "incident.json")); err != nil {
		t.Fatal(err)
	}
	kill = record("4MB")
	within(t, "that it runs", func() bool { return strings.Contains(metricsAt(at), "\nsnag_incidents_waiting 0\n") })
	time.Sleep(2 * time.Second)
	kill()
	if there("incident.json") {
		t.Error("what was sent is sent again")
	}
	if err := os.Remove(filepath.Join(ring.Dir, "incidents-sent.json")); err != nil {
		t.Fatal(err)
	}
	kill = record("4MB")
	within(t, "that it is sent again", func() bool { return there("incident.json") })
	kill()
	out, _ := exec.Command(h.snag, "incidents", "show", name, "--from", "file://"+store).Output() // the exit code is of the verdict
	if !strings.Contains(string(out), "udp-receive-buffer-full\n") {
		t.Errorf("%s", out)
	}
}

// recordsTo runs snag record, whose store never fails, until kill -9.
func recordsTo(t *testing.T, h *trouble, args ...string) (kill func()) {
	t.Helper()
	cmd := exec.Command(h.snag, append([]string{"record"}, args...)...)
	var said bytes.Buffer
	cmd.Env, cmd.Stderr = append(os.Environ(), "TMPDIR="+h.tmp), &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if strings.Contains(said.String(), "--incidents-to") {
			t.Errorf("%s", said.String())
		}
	})
	t.Cleanup(kill)
	return kill
}

// metricsAt are those of a recorder; "" while it does not answer.
func metricsAt(addr string) string {
	resp, err := http.Get("http://" + addr + "/metrics")
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return ""
	}
	return string(b)
}
