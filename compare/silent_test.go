package compare

import (
	"slices"
	"testing"
	"time"

	"snag/recording"
)

// A service whose answers are missing in B is worse if it was asked, and not as good if it was not.
func TestWhatAnswersNothing(t *testing.T) {
	r, err := recording.Open(steady)
	if err != nil {
		t.Fatal(err)
	}
	const at = "127.0.0.1:7101"
	mute := func() (a, b *recording.Recording) {
		cut := func(from time.Duration) *recording.Recording {
			t := r.Manifest.Start.Add(from)
			return r.Cut(t, t.Add(pairLength))
		}
		a, b = cut(0), cut(time.Minute)
		b.Turns = slices.DeleteFunc(slices.Clone(b.Turns), func(row recording.Turns) bool { return row.Local == at || row.Remote == at })
		return a, b
	}
	a, b := mute()
	if c := Of(a, b); c.Outcome() != CantTell || len(c.Quiet) != 1 || len(c.Stopped) != 0 {
		t.Errorf("nobody asked: %s, quiet %v, stopped %v", c.Outcome(), c.Quiet, c.Stopped)
	}
	for name, add := range map[string]func(b *recording.Recording){
		"refused": func(b *recording.Recording) {
			b.CallErrors = append(slices.Clone(b.CallErrors), recording.CallError{T: b.Manifest.Start, Comm: "client", Call: "connect", Errno: "ECONNREFUSED", N: 40, Remote: at})
		},
		"open": func(b *recording.Recording) {
			for _, row := range a.Turns {
				if row.Role == "serve" && row.Local == at {
					row.T = b.Manifest.End.Add(-time.Second)
					row.N, row.Sum, row.Max, row.Wait, row.Hist, row.Failed, row.Open, row.Oldest = 0, 0, 0, 0, nil, 0, 3, 30
					b.Turns = append(b.Turns, row)
					return
				}
			}
		},
		"cut": func(b *recording.Recording) {
			for _, row := range a.Turns {
				if row.Role == "serve" && row.Local == at {
					row.T = b.Manifest.End.Add(-time.Second)
					row.N, row.Sum, row.Max, row.Wait, row.Hist, row.Failed, row.Open, row.Cut = 0, 0, 0, 0, nil, 0, 0, 9
					b.Turns = append(b.Turns, row)
					return
				}
			}
		},
	} {
		_, b := mute()
		add(b)
		c := Of(a, b)
		if c.Outcome() != Worse || len(c.Stopped) != 1 || !leadsTo(at, c.Stopped[0].address) {
			t.Errorf("%s: %s, stopped %+v, quiet %+v", name, c.Outcome(), c.Stopped, c.Quiet)
		}
	}
}

// A service with answers in A that does not run in B leaves it open whether B is as good; where others fail
// to connect to it, B is worse. One that serves at another port in B is there.
func TestServiceThatIsGone(t *testing.T) {
	r, err := recording.Open(steady)
	if err != nil {
		t.Fatal(err)
	}
	const at = "127.0.0.1:7101"
	cut := func(from time.Duration) *recording.Recording {
		t := r.Manifest.Start.Add(from)
		return r.Cut(t, t.Add(pairLength))
	}
	a := cut(0)
	comm := ""
	for _, row := range a.Turns {
		if row.Role == "serve" && row.Local == at {
			comm = row.Comm
		}
	}
	if comm == "" {
		t.Fatal("no program serves at " + at)
	}
	without := func(runs bool) *recording.Recording {
		b := cut(time.Minute)
		b.Turns = slices.DeleteFunc(slices.Clone(b.Turns), func(row recording.Turns) bool { return row.Local == at || row.Remote == at })
		b.Sockets = slices.DeleteFunc(slices.Clone(b.Sockets), func(k recording.Socket) bool { return k.Local == at })
		if !runs {
			b.Processes = slices.DeleteFunc(slices.Clone(b.Processes), func(p recording.Process) bool { return p.Comm == comm })
		}
		return b
	}
	serves := func(c *Comparison) bool {
		return len(c.Gone) == 1 && leadsTo(at, c.Gone[0].address) && slices.Contains(c.OnlyA, c.Gone[0].Name)
	}
	if c := Of(a, without(false)); c.Outcome() != CantTell || !serves(c) || c.Gone[0].Elsewhere || len(c.Quiet) > 0 {
		t.Errorf("not there: %s, gone %v, quiet %v", c.Outcome(), c.Gone, c.Quiet)
	}
	if c := Of(a, without(true)); c.Outcome() != CantTell || !serves(c) || !c.Gone[0].Elsewhere {
		t.Errorf("runs, and listens nowhere: %s, gone %v, quiet %v", c.Outcome(), c.Gone, c.Quiet)
	}
	moved := cut(time.Minute)
	moved.Turns, moved.Sockets = slices.Clone(moved.Turns), slices.Clone(moved.Sockets)
	for i, row := range moved.Turns {
		if row.Local == at {
			moved.Turns[i].Local = "127.0.0.1:8888"
		}
	}
	for i, k := range moved.Sockets {
		if k.Local == at {
			moved.Sockets[i].Local = "127.0.0.1:8888"
		}
	}
	if c := Of(a, moved); len(c.Gone) > 0 || !slices.Contains(c.OnlyB, comm+" 127.0.0.1:8888") {
		t.Errorf("at another port: gone %v, only in B %v", c.Gone, c.OnlyB)
	}
	b := without(false)
	b.CallErrors = append(slices.Clone(b.CallErrors), recording.CallError{T: b.Manifest.Start, Comm: "client", Call: "connect", Errno: "ECONNREFUSED", N: 40, Remote: at})
	if c := Of(a, b); c.Outcome() != Worse || len(c.Stopped) != 1 || len(c.Gone) > 0 {
		t.Errorf("refused: %s, stopped %v, gone %v", c.Outcome(), c.Stopped, c.Gone)
	}
}
