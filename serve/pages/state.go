package pages

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"snag/recorder"
)

// State is what the page shows (ui/src/model/board.ts).
type State struct {
	Host string    `json:"host"`
	Now  time.Time `json:"now"`
	// Recorder says whether what is shown is of now.
	Recorder Recorder `json:"recorder"`
	// Affected are the incidents that go on.
	Affected []recorder.Incident `json:"affected"`
	// Groups are the incidents, those with the same culprits together, newest first.
	Groups []Group `json:"groups"`
	All    int     `json:"all"`               // incidents there are
	Left   int     `json:"left,omitempty"`    // groups that are left out
	Broken string  `json:"damaged,omitempty"` // what could not be read
	Fleet  bool    `json:"fleet,omitempty"`   // there is a page of many hosts, at /fleet
}

// Recorder is whether snag record writes to the ring.
type Recorder struct {
	Running bool      `json:"running"`
	Since   time.Time `json:"since,omitzero"` // the oldest that is kept
	Last    time.Time `json:"last,omitzero"`  // when it last wrote
	Why     string    `json:"why,omitempty"`  // there is nothing to read
}

// Group are incidents with the same culprits or, without a culprit, the same symptoms.
type Group struct {
	Last  recorder.Incident `json:"last"`
	Times []Span            `json:"times"` // newest first
}

// Span is when an incident was.
type Span struct {
	ID    int       `json:"id"`
	Start time.Time `json:"start"`
	End   time.Time `json:"end,omitzero"` // zero: not known, or it goes on
}

const (
	// quiet is how long ago a running recorder has written at most: it writes every second, less often on a slow disk.
	quiet = 15 * time.Second
	// judgedAgain is how long ago an incident that goes on was judged at most: it is once a minute.
	judgedAgain = 3 * time.Minute
	mostSpans   = 500
)

func stateOf(ring recorder.Ring, host string, now time.Time) State {
	s := State{Host: host, Now: now, Recorder: recorderOf(ring, now), Affected: []recorder.Incident{}, Groups: []Group{}}
	all, err := ring.Incidents()
	if err != nil && s.Recorder.Why == "" {
		s.Broken = err.Error()
	}
	s.All = len(all)
	for _, i := range all {
		if s.Recorder.Running && goesOn(ring, i, now) {
			s.Affected = append(s.Affected, i)
		}
	}
	s.Groups = grouped(all)
	if n := len(s.Groups); n > mostGroups {
		s.Groups, s.Left = s.Groups[:mostGroups], n-mostGroups
	}
	return s
}

// goesOn reports whether an incident without an end goes on: the recorder may have been killed before it was over.
func goesOn(ring recorder.Ring, i recorder.Incident, now time.Time) bool {
	if !i.End.IsZero() {
		return false
	}
	st, err := os.Stat(filepath.Dir(ring.Recording(i.ID)))
	return err == nil && now.Sub(st.ModTime()) < judgedAgain
}

// grouped are the incidents by their culprits, the group of the newest first.
func grouped(all []recorder.Incident) []Group {
	out := []Group{}
	at := map[string]int{}
	for n := range all {
		i := all[len(all)-1-n]
		key := i.GroupKey()
		k, known := at[key]
		if !known {
			k = len(out)
			at[key] = k
			out = append(out, Group{Last: i})
		}
		if g := &out[k]; len(g.Times) < mostSpans {
			g.Times = append(g.Times, Span{i.ID, i.Start, i.End})
		}
	}
	return out
}

func recorderOf(ring recorder.Ring, now time.Time) (r Recorder) {
	pieces, err := ring.Pieces()
	switch {
	case err != nil:
		r.Why = err.Error()
		return r
	case len(pieces) == 0:
		r.Why = "nothing is recorded in " + ring.Dir + " yet: snag record has only begun, or it can't write (journalctl -u snag-record)"
		return r
	}
	r.Since = pieces[0].Start.Wall()
	for _, p := range pieces {
		last := p.End.Wall()
		if p.Open {
			last = newest(filepath.Join(ring.Dir, p.Name))
		}
		if last.After(r.Last) {
			r.Last = last
		}
	}
	r.Running = now.Sub(r.Last) < quiet
	return r
}

// newest is when something in a folder was last written to.
func newest(dir string) (at time.Time) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error { // what disappears meanwhile is not new
		if err != nil {
			return nil
		}
		if st, err := d.Info(); err == nil && st.ModTime().After(at) {
			at = st.ModTime()
		}
		return nil
	})
	return at
}
