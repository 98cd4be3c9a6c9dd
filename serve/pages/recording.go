package pages

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"snag/serve/agent"
)

// mostRecorded is how long a time may be whose recording is asked for, and cutTime how long cutting it may take.
const (
	mostRecorded = 10 * time.Minute
	cutTime      = time.Minute
)

// recording is what the ring has of a time, as one file: snag find --fleet joins those of several hosts. It is for
// programs, whose token or certificate it needs.
func (s *site) recording(w http.ResponseWriter, r *http.Request) {
	from, to, err := askedTime(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	name, drop, err := s.cut(r.Context(), from, to)
	if err != nil {
		http.Error(w, fmt.Sprintf("cut the recording of %s to %s: %v", from.Format(time.RFC3339), to.Format(time.RFC3339), err), http.StatusNotFound)
		return
	}
	defer drop()
	f, err := os.Open(name)
	if err != nil {
		http.Error(w, "the recording was removed meanwhile: ask again", http.StatusInternalServerError)
		return
	}
	defer f.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Cache-Control", "no-store")
	http.ServeContent(w, r, "", time.Time{}, f)
}

func askedTime(r *http.Request) (from, to time.Time, err error) {
	for name, into := range map[string]*time.Time{"from": &from, "to": &to} {
		if *into, err = time.Parse(time.RFC3339Nano, r.URL.Query().Get(name)); err != nil {
			return from, to, fmt.Errorf("%s: no time: write it as %s=2026-11-30T14:17:28Z", name, name)
		}
	}
	switch d := to.Sub(from); {
	case d <= 0:
		return from, to, errors.New("to: it must be after from")
	case d > mostRecorded:
		return from, to, fmt.Errorf("from, to: %s at the most", mostRecorded)
	}
	return from, to, nil
}

// cut makes the file; drop removes it.
func (s *site) cut(ctx context.Context, from, to time.Time) (name string, drop func(), err error) {
	select {
	case s.making <- struct{}{}:
		defer func() { <-s.making }()
	case <-ctx.Done():
		return "", nil, ctx.Err()
	}
	dir, err := s.NewFolder()
	if err != nil {
		return "", nil, err
	}
	drop = func() { _ = os.RemoveAll(dir) } // made for this request
	ctx, cancel := context.WithTimeout(ctx, cutTime)
	defer cancel()
	name = filepath.Join(dir, "cut.snag")
	at := func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
	if _, err := s.Run(ctx, agent.Command{Name: "find", Flags: []string{"--json", "--from=" + at(from), "--to=" + at(to), "--ring=" + s.Ring.Dir, "--out=" + name}}); err != nil {
		drop()
		return "", nil, err
	}
	return name, drop, nil
}
