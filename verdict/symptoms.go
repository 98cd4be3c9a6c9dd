package verdict

import (
	"slices"
	"sort"

	"snag/ledger"
	"snag/recording"
	"snag/scene"
)

// Reported is the name of a symptom that the user told and whose words fit none
// of the known ones.
const Reported = "reported"

// felt is the least harm of each symptom that a user would notice, in its own
// unit: below it a confirmed finding is a risk.
var felt = map[string]struct {
	amount float64
	share  float64 // of Harm.Of, where that is known
}{
	scene.DatagramsLost:     {10, 0.001}, // 10 packets of RTP are a visible glitch; 1 in 1,000 is what voice and video tolerate
	scene.ConnectionErrors:  {5, 0.005},  // a handful of failed connections in a window are somebody's reload button
	scene.FailedAnswers:     {5, 0.01},   // of a service with users 1 in 100 is what it promises at the least
	scene.ConnectLatency:    {3, 0.001},  // connections that waited for a SYN to be sent again: 1 s each
	scene.RequestLatency:    {0.005, 0},  // seconds added to a typical request
	scene.StreamFreeze:      {1, 0},      // seconds; healthy streams show gaps of 0.35 s on a busy machine
	scene.StreamEnded:       {1, 0},      // seconds without it
	scene.StreamRefused:     {1, 0},      // seconds without it
	scene.StreamAudioLost:   {1, 0},      // seconds without sound
	scene.StreamRateFell:    {1, 0},      // seconds
	scene.StreamThin:        {1, 0},      // seconds
	scene.StreamLate:        {0.5, 0},    // seconds
	scene.ThroughputPlateau: {0.02, 0},   // share of the throughput that is missing
	scene.FramesSkipped:     {3, 0},      // frames
}

// symptoms gathers what hurt: what the scene shows, what the findings measured
// as their harm where the scene has no symptom of that kind on that subject, and
// what the user told. Those of the target come first.
func symptoms(s *scene.Scene, r *recording.Recording, l *ledger.Ledger, n *scope, found []*candidate) []scene.Symptom {
	var out []scene.Symptom
	for _, sym := range s.Symptoms {
		if !isSelf(sym.Subject, r) {
			sym.Subject.Name, sym.Elsewhere = s.Name(sym.Subject), !n.hurts(sym)
			out = append(out, sym)
		}
	}
	for _, c := range found {
		h := c.finding.Harm
		floor := felt[h.Symptom]
		if h.Sure {
			floor.amount = 1
		}
		if h.Amount <= 0 || h.Amount < floor.amount || h.Of > 0 && h.Amount/h.Of < floor.share || shown(s, out, c) ||
			h.Symptom == scene.RequestLatency && accounted(s, l, c) {
			continue
		}
		share := 0.0
		if h.Of > 0 {
			share = min(1, h.Amount/h.Of)
		}
		out = append(out, scene.Symptom{
			Name: h.Symptom, Subject: c.finding.Subject, Onset: c.onset, Active: c.finding.Active,
			Text: h.Text, Amount: h.Amount, Unit: h.Unit, Share: share,
			Elsewhere: !n.concerns(c.finding.Subject, c.finding.Related),
		})
	}
	out = withoutInferred(append(out, reports(s, r)...), slices.ContainsFunc(out, measured))
	for i := range out {
		out[i].Held = heldUp(out[i], l, s.Window)
	}
	sort.SliceStable(out, func(i, j int) bool { return !out[i].Elsewhere && out[j].Elsewhere })
	return out
}

// measured: somebody was seen to suffer.
func measured(sym scene.Symptom) bool { return !sym.Inferred && !sym.Reported }

// withoutInferred drops inferred symptoms where others were measured: those show whether anybody was
// hurt. A process that stands still for half of the time is kept in any case.
func withoutInferred(all []scene.Symptom, seen bool) []scene.Symptom {
	return slices.DeleteFunc(all, func(sym scene.Symptom) bool { return seen && sym.Inferred && sym.Share < 0.5 })
}

func shown(s *scene.Scene, have []scene.Symptom, c *candidate) bool {
	for _, sym := range have {
		if p := c.finding.Subject.Proto; p != "" && sym.Subject.Proto != "" && p != sym.Subject.Proto {
			continue // what one process loses on TCP is not what it loses on UDP
		}
		if stoodBefore(sym, c) {
			continue // somebody else's harm: that stream stood still before
		}
		// What a stream was seen to suffer, frame by frame, is what a program that
		// passes it on costs; requests that are late were measured elsewhere.
		same := sym.Name == c.finding.Harm.Symptom || c.finding.Harm.Symptom == scene.RequestLatency && sym.Subject.Kind == recording.KindStream && sym.Name != scene.FramesSkipped
		if same && touches(s, c.finding, []recording.Subject{sym.Subject}) {
			return true
		}
	}
	return false
}

// stoodBefore reports whether all of what a stream was seen to suffer began before a cause did: it is
// no harm of that one.
func stoodBefore(sym scene.Symptom, c *candidate) bool {
	return sym.Subject.Kind == recording.KindStream && !slices.ContainsFunc(append(starts(sym.Active), sym.Onset), func(t recording.Time) bool {
		return c.onset <= t.Add(slack)
	})
}
