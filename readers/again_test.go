package readers

import (
	"context"
	"path/filepath"
	"testing"

	"snag/recording"
)

// What was joined of two hosts is read again, as snag find --fleet --out keeps it: each process stays on its host.
func TestARecordingOfTwoHostsIsReadAgain(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for i, host := range []string{"web-1", "db-1"} {
		path := filepath.Join(dir, host)
		w, err := recording.Create(path, recording.Manifest{Host: host, Start: 100e9}, recording.Options{})
		if err != nil {
			t.Fatal(err)
		}
		w.Append(recording.Process{T: 101e9, PID: 10 + i, Comm: host, State: "S"})
		w.Append(recording.Process{T: 109e9, PID: 10 + i, Comm: host, State: "S"})
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
	}
	for _, to := range []string{"joined", "again"} {
		out := filepath.Join(dir, to)
		if err := Read(context.Background(), Plan{Files: files, Dir: out}); err != nil {
			t.Fatal(err)
		}
		r, err := recording.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Parts) != 2 {
			t.Fatalf("%s: %d parts", to, len(r.Parts))
		}
		for _, part := range r.Parts {
			for _, p := range part.Processes {
				if p.Comm != part.Manifest.Host {
					t.Errorf("%s: %s is on %s", to, p.Comm, part.Manifest.Host)
				}
			}
			if len(part.Processes) != 2 {
				t.Errorf("%s: %d rows on %s", to, len(part.Processes), part.Manifest.Host)
			}
		}
		files = []string{out}
	}
}

// A recording that another host sent is of that host, whatever its rows say of others.
func TestARecordingSpeaksForItsHostAlone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "evil")
	w, err := recording.Create(path, recording.Manifest{Host: "db-1", Start: 100e9}, recording.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w.Append(recording.Process{T: 101e9, PID: 10, Comm: "evil", State: "S"})
	w.Append(recording.Event{T: 105e9, End: 108e9, Kind: recording.EventGCPause, Subject: recording.Subject{Kind: recording.KindProcess, PID: 7, Host: "db-1"}})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	if err := Read(context.Background(), Plan{Files: []string{path}, Dir: out, Hosts: map[string]string{path: "web-1"}}); err != nil {
		t.Fatal(err)
	}
	r, err := recording.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Parts) > 1 || r.Manifest.Host != "web-1" || len(r.Events) != 1 || r.Events[0].Subject.Host != "" {
		t.Errorf("%d parts, host %s, %+v", len(r.Parts), r.Manifest.Host, r.Events)
	}
}
