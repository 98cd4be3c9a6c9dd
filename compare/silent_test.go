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
