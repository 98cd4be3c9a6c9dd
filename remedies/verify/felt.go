package verify

import (
	"slices"

	"snag/recording"
	"snag/scene"
	"snag/suspects/suspect"
	"snag/verdict"
)

// measure says how a culprit's harm is read from a verdict.
type measure struct {
	suspect *suspect.Suspect
	symptom string
	of      string // the unit of its amount
	// subject is the symptom's own where the verdict has it; nil: the finding's harm.
	subject *recording.Subject
}

// intense are the symptoms whose amount is not a sum: so many seconds more for each
// request, a share of the throughput.
var intense = []string{scene.RequestLatency, scene.StreamLate, scene.ThroughputPlateau, scene.CPUBurn}

func (m measure) intense() bool {
	return slices.Contains(intense, m.symptom) || m.of == "ratio"
}

func (m measure) unit() string {
	if m.intense() {
		return m.of + ", on average over the time"
	}
	return m.of + "/s"
}

// in is the harm, second by second, as that verdict has it: its symptom on the same
// subject, else the harm that the same suspect found on it.
func (m measure) in(v *verdict.Verdict, sub recording.Subject) seconds {
	r := v.Recording
	s := newSeconds(r)
	add := func(active []recording.Interval, amount float64) {
		if m.intense() {
			s.during(r, active, amount)
		} else {
			s.spread(r, active, amount)
		}
	}
	found := false
	for _, sym := range v.Symptoms {
		if sym.Name == m.symptom && !sym.Reported && sym.Unit == m.of && m.concerns(v, sym.Subject, sub) {
			add(sym.Active, sym.Amount)
			found = true
		}
	}
	if found {
		return s
	}
	for _, e := range v.Entries {
		if e.Suspect == m.suspect && e.State != verdict.Cleared && e.Harm.Symptom == m.symptom && e.Harm.Unit == m.of && same(sub, e.Subject) {
			add(e.Active, e.Harm.Amount)
			break
		}
	}
	return s
}

// concerns reports whether a symptom's subject is the one that suffered before, or one
// that the culprit's subject touches.
func (m measure) concerns(v *verdict.Verdict, have, culprit recording.Subject) bool {
	if m.subject != nil && (same(*m.subject, have) || samePort(*m.subject, have)) {
		return true
	}
	return same(culprit, have) || v.Scene != nil && v.Scene.Touch(have, culprit)
}

// moved is the measure for the recording after, where who suffered may have another number
// or namespace.
func (m measure) moved(before, after *verdict.Verdict) measure {
	if m.subject != nil {
		if now, _, ok := counterpart(before, after, *m.subject); ok {
			m.subject = &now
		}
	}
	return m
}

// samePort: a listener's and a flow's address name the same service, whichever end was
// seen. Of a loopback each namespace has its own.
func samePort(a, b recording.Subject) bool {
	if a.Proto != b.Proto || a.Local == "" || b.Local == "" {
		return false
	}
	for _, x := range []string{a.Local, a.Remote} {
		for _, y := range []string{b.Local, b.Remote} {
			if x != "" && x == y && (a.Netns == b.Netns || !scene.OnLoopback(x)) {
				return true
			}
		}
	}
	return false
}
