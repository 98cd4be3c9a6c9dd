package compare

import (
	"slices"
	"testing"
	"time"

	"snag/recording"
)

// What one recording did not measure is not 0 there: a recording without root must not make that of root
// look worse.
func TestWhatOnlyOneMeasured(t *testing.T) {
	r, err := recording.Open(steady)
	if err != nil {
		t.Fatal(err)
	}
	cut := func(at time.Duration) *recording.Recording {
		from := r.Manifest.Start.Add(at)
		return r.Cut(from, from.Add(pairLength))
	}
	a, b := cut(0), cut(time.Minute)
	const what = "packets that the kernel dropped (SOCKET_RCVBUFF)"
	for at := range 40 {
		b.Drops = append(b.Drops, recording.Drop{T: b.Manifest.Start.Add(time.Duration(at) * time.Second), Reason: "SOCKET_RCVBUFF", N: 9})
	}
	if c := Of(a, b); !worse(c, what) || len(c.OneSided) != 0 {
		t.Errorf("measured in both: %v %v", c.Amounts, c.OneSided)
	}
	a.Coverage = slices.Clone(a.Coverage)
	for i, c := range a.Coverage {
		if c.Probe == "drops.kfree_skb" || c.Probe == "drops" {
			a.Coverage[i].State = recording.CoverageUnavailable
		}
	}
	if c := Of(a, b); worse(c, what) || !slices.Contains(c.OneSided, "packets that the kernel dropped (not measured in A)") {
		t.Errorf("not measured in A: %v %v", c.Amounts, c.OneSided)
	}
}
