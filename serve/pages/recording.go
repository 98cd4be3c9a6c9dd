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

// mostRecorded is how long a time may be whose recording is asked for, cutTime how long cutting it may take, and
// leaveTime how long the answer may take to leave.
const (
	mostRecorded = 10 * time.Minute
	cutTime      = time.Minute
	leaveTime    = 2 * time.Minute
)

// recording is what the ring has of a time, as one file: snag find --fleet joins those of several hosts. It is for
// programs, whose token or certificate it needs.
func (s *site) recording(w http.ResponseWriter, r *http.Request) {
	longer(w, 2*cutTime+leaveTime) // it may wait in line
	from, to, err := askedTime(r, time.Now())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	name, drop, err := s.cut(r.Context(), from, to)
	if err != nil {
		http.Error(w, fmt.Sprintf("cut the recording of %s to %s: %v", from.UTC().Format(time.RFC3339), to.UTC().Format(time.RFC3339), err), http.StatusNotFound)
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

// longer gives an answer more time than the server gives others.
func longer(w http.ResponseWriter, d time.Duration) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(d)) // a connection has a deadline
}

// askedTime is the time that a request names, up to now: whoever asks may have a clock that is ahead of this host's.
func askedTime(r *http.Request, now time.Time) (from, to time.Time, err error) {
	for _, one := range []struct {
		name string
		into *time.Time
	}{{"from", &from}, {"to", &to}} {
		if *one.into, err = time.Parse(time.RFC3339Nano, r.URL.Query().Get(one.name)); err != nil {
			return from, to, fmt.Errorf("%s: no time: write it as %s=2026-11-30T14:17:28Z", one.name, one.name)
		}
	}
	switch d := to.Sub(from); {
	case d <= 0:
		return from, to, errors.New("to: it must be after from")
	case d > mostRecorded:
		return from, to, fmt.Errorf("from, to: %s at the most", mostRecorded)
	case !from.Before(now):
		return from, to, fmt.Errorf("from: it is later than now, which is %s by this host's clock", now.UTC().Format(time.RFC3339))
	case to.After(now):
		to = now
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
