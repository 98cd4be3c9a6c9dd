package host

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var machinePaused = &suspect.Suspect{
	Name:  "machine-paused",
	Title: "the whole machine was stopped from outside",
	About: "A virtual machine that its host stops (a snapshot, a live migration, a suspended host) does nothing for seconds, and its clocks jump over them. " +
		"Every process, connection and timer on it stopped; nothing on it is to blame. snag that was stopped or starved alone sees the same gap in its own samples, while the machine's counters go on.",
	Needs: []suspect.Need{
		{Measure: "host.cpu", Must: true, Why: "context switches and interrupts over the gap: what the machine did in it"},
		{Measure: "sockets.diag", Why: "which connections stopped"},
	},
	For: []string{
		"decisive: over a gap of 2 s and more in snag's samples the machine made no more context switches, and took no more interrupts, than in the second before it",
		"weak: several probes of snag were late at once; connections with steady traffic stopped",
	},
	Against: []string{
		"decisive: context switches and interrupts went on at their rate: only snag was stopped (SIGSTOP, a debugger) or starved: see observer",
		"decisive: the hypervisor counted the gap as steal: a noisy neighbour, see cpu-saturated",
		"decisive: the machine was suspended, and counted that itself (/sys/power/suspend_stats/success)",
		"snag record did not run in the gap: it says nothing of the machine",
		"the wall clock was set: the recording's own clock does not move with it, and there is no gap",
	},
	LeadsTo:  measure.LatencyLeads(suspect.Lead{To: "observer", Lag: measure.FeltWithin}, suspect.Lead{To: scene.ConnectionErrors, Lag: 2 * measure.FeltWithin}),
	Remedy:   suspect.Remedy{Permanently: "Nothing on this machine helps. Ask who runs the host about snapshots, backups and migrations at that time, and for less downtime."},
	Verified: "no gap at the next one",
	Next:     "the host's log at that time; in a guest of Xen or KVM: dmesg | grep -iE 'clocksource|stall|resum'",
	Weigh:    weighPaused,
}

const (
	// longGap in samples that come each second: snag itself is late by half a
	// second on a busy machine.
	longGap = 2500 * time.Millisecond
	// stoodFor: a machine that did in the gap what it does in this share of it or
	// less was stopped; one that did more than goneOn went on without snag.
	stoodFor = 0.5
	goneOn   = 0.7
	// fewEvents a second of a counter say nothing: an idle guest of one CPU makes 50.
	fewEvents = 20
)

// lull is a gap in snag's samples and what the machine's counters say of it.
type lull struct {
	recording.Interval
	length float64 // s
	alive  []alive
	stolen float64 // s, of all CPUs
	slept  float64 // s, while the machine was suspended
}

// alive is how much of a gap the machine lived through, by one counter.
type alive struct {
	name, source string
	grew, usual  float64 // in the gap; a second otherwise
}

// share of the gap that what was counted would take at the usual rate.
func (a alive) share(length float64) float64 { return a.grew / a.usual / length }

func weighPaused(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	gaps := lulls(r)
	if len(gaps) == 0 {
		return nil
	}
	f := suspect.Finding{Subject: recording.Subject{Kind: recording.KindHost}, Next: "the host's log at that time; dmesg | grep -iE 'clocksource|stall|resum'"}
	still, on, stolen, slept := 0, 0, 0, 0
	lost := 0.0
	for _, g := range gaps {
		e, side := g.evidence()
		f.Evidence = append(f.Evidence, e...)
		switch side {
		case stoodStillSide:
			still++
			f.Active = append(f.Active, g.Interval)
			lost += g.length - 1 // a second of it is the usual distance of two samples
		case wentOnSide:
			on++
		case stolenSide:
			stolen++
		case sleptSide:
			slept++
		}
	}
	switch {
	case still > 0:
		// A gap that was snag's own besides speaks of that gap alone.
		f.Evidence = only(f.Evidence, suspect.For, suspect.Missing)
		f.Text = fmt.Sprintf("this machine did nothing for %s: it was stopped from outside", units.Lasting(lost))
		if still > 1 {
			f.Text = fmt.Sprintf("this machine did nothing for %s in %d pauses: it was stopped from outside", units.Lasting(lost), still)
		}
		f.Remedy = suspect.Remedy{Permanently: "Nothing here helps. Ask who runs the host what it did at " + f.Active[0].Start.String() + " UTC (snapshot, migration, suspend)."}
		addStill(&f, s, lost)
	case slept > 0:
		f.Text = "gaps in snag's samples while the machine was suspended"
	case stolen > 0:
		f.Text = "gaps in snag's samples that the hypervisor counted as steal"
	case on > 0:
		f.Text = "gaps in snag's samples while the machine went on"
	default:
		f.Text = "gaps in snag's samples, and too little to know what the machine did in them"
	}
	return []suspect.Finding{f}
}

// sides of one gap.
const (
	unknownSide = iota
	stoodStillSide
	wentOnSide
	stolenSide
	sleptSide
)

func (g lull) evidence() (out []suspect.Evidence, side int) {
	still, on := 0, 0
	text := ""
	for _, a := range g.alive {
		share := a.share(g.length)
		if share <= stoodFor {
			still++
		}
		if share >= goneOn {
			on++
		}
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("%s %s (usual %s per second)", units.Count(math.Round(a.grew)), a.name, units.Count(math.Round(a.usual)))
	}
	e := suspect.Evidence{Value: g.length, Unit: "s", Source: source.Of("/proc/stat ctxt, intr", source.ContextSwitches, source.Interrupts), Origin: "the machine's own counters",
		Text: fmt.Sprintf("from %s on no sample for %s, in which the machine made %s", g.Start, units.Lasting(g.length), text)}
	switch {
	case g.slept >= stoodFor*g.length:
		e.Side, e.Grade, e.Value, e.Source, e.Origin = suspect.Against, suspect.Decisive, g.slept, source.Of("/sys/power/suspend_stats/success"), "the machine's own counters"
		e.Text = fmt.Sprintf("of the %s without a sample from %s on the machine was suspended for %s", units.Lasting(g.length), g.Start, units.Lasting(g.slept))
		return []suspect.Evidence{e}, sleptSide
	case len(g.alive) == 0:
		e.Side, e.Text = suspect.Missing, fmt.Sprintf("from %s on no sample for %s; too few events otherwise to know what the machine did in it", g.Start, units.Lasting(g.length))
		return []suspect.Evidence{e}, unknownSide
	case g.stolen >= 0.5*g.length:
		e.Side, e.Grade, e.Source, e.Origin = suspect.Against, suspect.Decisive, source.CPU("/proc/stat steal", "", "steal"), "steal"
		e.Text = fmt.Sprintf("of the %s without a sample from %s on the hypervisor counted %s as stolen", units.Lasting(g.length), g.Start, units.Lasting(g.stolen))
		return []suspect.Evidence{e}, stolenSide
	case still == len(g.alive) && still >= 2:
		e.Side, e.Grade = suspect.For, suspect.Decisive
		return []suspect.Evidence{e}, stoodStillSide
	case on == len(g.alive):
		e.Side, e.Grade = suspect.Against, suspect.Decisive
		e.Text += ": only snag stopped"
		return []suspect.Evidence{e}, wentOnSide
	}
	e.Side, e.Grade = suspect.For, suspect.Weak
	return []suspect.Evidence{e}, unknownSide
}

func only(all []suspect.Evidence, sides ...suspect.Side) []suspect.Evidence {
	var out []suspect.Evidence
	for _, e := range all {
		for _, side := range sides {
			if e.Side == side {
				out = append(out, e)
			}
		}
	}
	return out
}

// addStill adds the connections with traffic: they stood still with the machine.
func addStill(f *suspect.Finding, s *scene.Scene, lost float64) {
	n := 0
	for _, k := range s.Sockets {
		if k.Listening() || k.First().Remote == "" {
			continue
		}
		a, b := k.First().TCP, k.Last().TCP
		if a != nil && b != nil && (b.BytesReceived > a.BytesReceived || b.BytesAcked > a.BytesAcked) {
			if n++; n <= 20 {
				f.Related = append(f.Related, k.Subject)
			}
		}
	}
	if n == 0 {
		return
	}
	f.Harm = suspect.Harm{Symptom: scene.StreamFreeze, Amount: lost, Of: s.Window.Length(s.Window.End).Seconds(), Unit: "s",
		Text: fmt.Sprintf("%s with traffic stopped for %s", units.Plural(n, "connection"), units.Lasting(lost))}
	f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: float64(n), Unit: "connections", Source: source.SS("-tin").With(source.BytesReceived, source.BytesAcked), Origin: "sockets",
		Text: fmt.Sprintf("%s with traffic stopped meanwhile", units.Plural(n, "connection"))})
}

// lulls are the gaps between two readings of the machine's counters.
func lulls(r *recording.Recording) []lull {
	var out []lull
	for _, c := range []struct{ name, what, source string }{
		{"node_context_switches_total", "context switches", "ctxt"},
		{"node_intr_total", "interrupts", "intr"},
	} {
		for _, s := range r.Select(c.name) {
			usual, ok := usualRate(s)
			for i := 1; i < len(s.Points); i++ {
				a, b := s.Points[i-1], s.Points[i]
				gap := recording.Interval{Start: a.T, End: b.T}
				if b.T.Sub(a.T) < longGap || unrecordedIn(r, gap) {
					continue
				}
				at := gapAt(&out, gap)
				if ok && b.V >= a.V {
					at.alive = append(at.alive, alive{c.what, c.source, b.V - a.V, usual})
				}
			}
		}
	}
	for i := range out {
		for _, s := range r.Select("node_cpu_seconds_total", "mode", "steal") {
			n, _ := measure.StepsOf(s).Between(out[i].Interval)
			out[i].stolen += n
		}
		out[i].slept = sleptIn(r, out[i].Interval)
	}
	return out
}

// sleptIn is for how much of a gap the machine was suspended, s.
func sleptIn(r *recording.Recording, gap recording.Interval) float64 {
	var slept []recording.Interval
	for _, e := range r.Events {
		if e.Kind == recording.EventSuspended && e.End > e.T {
			slept = append(slept, e.Interval())
		}
	}
	return intervals.Seconds(intervals.Clip(slept, gap), 0)
}

// unrecordedIn reports whether snag did not record in a gap: it says nothing of the machine then.
func unrecordedIn(r *recording.Recording, gap recording.Interval) bool {
	return slices.ContainsFunc(r.Events, func(e recording.Event) bool {
		return e.Kind == recording.EventNotRecorded && e.T < gap.End && e.End > gap.Start
	})
}

// gapAt finds a gap, made where it is new. Series of one tick share its time.
func gapAt(all *[]lull, i recording.Interval) *lull {
	for n := range *all {
		if g := &(*all)[n]; g.Start.Sub(i.Start).Abs() < time.Second {
			return g
		}
	}
	*all = append(*all, lull{Interval: i, length: i.End.Sub(i.Start).Seconds()})
	return &(*all)[len(*all)-1]
}

// usualRate is the median growth per second between readings that came in time.
// False where there are too few of them, or too little happens.
func usualRate(s recording.Series) (float64, bool) {
	var rates []float64
	for i := 1; i < len(s.Points); i++ {
		a, b := s.Points[i-1], s.Points[i]
		if d := b.T.Sub(a.T); d >= 500*time.Millisecond && d < longGap && b.V >= a.V {
			rates = append(rates, (b.V-a.V)/d.Seconds())
		}
	}
	if len(rates) < 3 {
		return 0, false
	}
	sort.Float64s(rates)
	usual := rates[len(rates)/2]
	return usual, usual >= fewEvents
}
