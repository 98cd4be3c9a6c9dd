package verdict

import (
	"snag/recording"
	"snag/scene"
)

// View is what a verdict says of one host, of a recording of several: processes, sockets
// and addresses of two hosts may be the same, and only within one is a number or an
// address somebody's.
type View struct {
	*Verdict
	Name string // of the host, else of its files
}

// Views are a verdict's hosts, those of culprits first; none where it is of one.
func (v *Verdict) Views() (out []View) {
	var rest []View
	for _, h := range v.parts {
		own := View{Name: h.name, Verdict: &Verdict{Recording: h.r, Scene: h.s}}
		at := map[int]int{} // of symptoms: their index here
		for i, sym := range v.Symptoms {
			if v.hosts[i] == h {
				at[i] = len(own.Symptoms)
				own.Symptoms = append(own.Symptoms, sym)
			}
		}
		for _, e := range v.Entries {
			if e.host != h {
				continue
			}
			var explains []int
			for _, i := range e.Explains {
				if here, ok := at[i]; ok {
					explains = append(explains, here)
				}
			}
			e.Explains = explains
			e.Chain = h.linksOf(e.Chain)
			own.Entries = append(own.Entries, e)
		}
		if len(own.With(Culprit)) > 0 {
			out = append(out, own)
		} else {
			rest = append(rest, own)
		}
	}
	return append(out, rest...)
}

// linksOf are the steps of a chain that are on this host.
func (h *host) linksOf(chain []Link) (out []Link) {
	for _, l := range chain {
		if l.Subject.Host == h.r.Manifest.Host {
			out = append(out, l)
		}
	}
	return out
}

// viewOf is the recording and the scene of an entry's host.
func (v *Verdict) viewOf(h *host) (*recording.Recording, *scene.Scene) {
	if h == nil {
		return v.Recording, v.Scene
	}
	return h.r, h.s
}
