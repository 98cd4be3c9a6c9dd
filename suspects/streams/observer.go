package streams

import (
	"fmt"
	"strings"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var observer = &suspect.Suspect{
	Name:  "observer",
	Title: "snag itself was late or lost events",
	About: "The machine gave snag so little time that whole samples are missing, or events came faster than it could take them. What it says of the order of things, and what it did not see, is then not to be trusted; what the kernel counted still is. " +
		"It is the culprit only where a symptom can't be explained for it: a cause that was found, with a proof that depends on late or lost samples; a late start of snag removes no proof. Otherwise it is a risk, and that no culprit was seen clears no suspect.",
	Needs: []suspect.Need{
		{Measure: "host.cpu", Must: true, Why: "the probe that ticks from first to last: how late its ticks were"},
		{Measure: "streams.figures", Must: false, Why: "how late its reader of a stream was"},
	},
	For: []string{
		"decisive: a probe's ticks came over 2 s late, again and again, and its samples have gaps as long",
		"decisive: a third of a probe's samples are missing",
		"decisive: a probe began so late that a fifth of the window went by before it",
		"decisive: its own reader of a stream came late by as long as the stream seemed to stop, or left the data unread in its socket",
		"decisive: the drops probe lost more than a tenth of what it counted; weak: the sockets probe did",
	},
	Against: []string{
		"a busy machine: at twice as much work as CPUs ticks come 0.1 to 0.6 s late, and one of them over a second",
	},
	Remedy:   suspect.Remedy{Permanently: "Repeat on a machine with time to spare. Or give snag more of it: nice -n -5, a target."},
	Verified: "its ticks come in time",
	Next:     "nice -n -10 snag find --for 30s",
	Weigh:    weighObserver,
}

const (
	// veryLate: two whole ticks of a second. On two CPUs with four busy threads
	// the latest tick of half a minute came 0.6 s late.
	veryLate = 2.0
	// oftenLate: fewer such ticks are an instant's stall, of the whole machine
	// perhaps, which is machine-paused's matter.
	oftenLate      = 3
	oftenLateShare = 0.1
	// A probe is ready in half a second, in two on a busy machine, in 3.2 where two finds
	// begin at once and the hypervisor takes half of the CPU time. Later than beganLate
	// seconds and this share of the window, too much went by unseen: with 4 % of a CPU it is 7.
	beganLate, beganShare = 5.0, 0.2
	// missingShare of the samples that a probe should have taken.
	missingShare = 1.0 / 3
	// lostShare of what a probe saw in all.
	lostShare = 0.1
	// fewLost: a loss that no floor of a symptom would notice.
	fewLost = 10
)

// OriginBegan is the origin of evidence that a probe began late: it saw nothing of
// what was before, and what it saw from then on is as good as any.
const OriginBegan = "began"

// ticks is how one probe kept its time.
type ticks struct {
	probe   string
	began   float64 // seconds of the window that went by before its first sample
	n       int     // samples taken
	want    int     // samples that fit into the window after that, one per second
	late    []recording.Interval
	gaps    int // spans between samples of veryLate and more
	gap     float64
	latest  float64
	missing []recording.Interval
}

func weighObserver(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	f := suspect.Finding{Subject: recording.Subject{Kind: recording.KindObserver, PID: r.Manifest.SelfPID}}
	var said []string
	for _, series := range r.Select("snag_probe_late_seconds") {
		t := ticksOf(r, series)
		text := fmt.Sprintf("%d of %d ticks of %s came over %.0f s late (the latest %.1f s), its samples have %d gaps as long (%.1f s in all)", len(t.late), t.n, t.probe, veryLate, t.latest, t.gaps, t.gap)
		e := suspect.Evidence{Side: suspect.Against, Grade: suspect.Weak, Value: t.latest, Unit: "seconds", Source: source.Of("snag_probe_late_seconds{probe=\""+t.probe+"\"}", source.Ref{Series: "snag_probe_late_seconds", Labels: recording.Labels{"probe": t.probe}}), Origin: "late",
			Text: fmt.Sprintf("%s took %d of %d samples, the latest tick %.1f s late", t.probe, t.n, t.want, t.latest)}
		lacking := float64(t.want-t.n) / float64(max(1, t.want))
		switch {
		case len(t.late) >= oftenLate && float64(len(t.late)) >= oftenLateShare*float64(t.n) && t.gaps >= oftenLate:
			e.Side, e.Grade, e.Text = suspect.For, suspect.Decisive, text
			f.Active = append(f.Active, t.late...)
			said = append(said, fmt.Sprintf("%s was up to %.1f s late", t.probe, t.latest))
		case t.began >= beganLate && t.began >= beganShare*r.Length().Seconds():
			e.Side, e.Grade, e.Value, e.Origin = suspect.For, suspect.Decisive, t.began, OriginBegan
			e.Text = fmt.Sprintf("%s took its first sample %.1f s after the recording began, of %.1f s: what happened before was not seen", t.probe, t.began, r.Length().Seconds())
			f.Active = append(f.Active, recording.Interval{Start: r.Manifest.Start, End: r.Manifest.Start.Add(time.Duration(t.began * 1e9))})
			said = append(said, fmt.Sprintf("%s began %.1f s late", t.probe, t.began))
		case t.want >= 5 && lacking >= missingShare:
			e.Side, e.Grade = suspect.For, suspect.Decisive
			e.Text = fmt.Sprintf("%s took %d samples where %d were due", t.probe, t.n, t.want)
			f.Active = append(f.Active, t.missing...)
			said = append(said, fmt.Sprintf("%s missed %d of %d samples", t.probe, t.want-t.n, t.want))
		case len(t.late) == 0 && t.latest < 1:
			continue // in time: nothing to say
		}
		f.Evidence = append(f.Evidence, e)
	}
	if late, spans, text := lateReader(s, r); len(late) > 0 {
		f.Evidence, f.Active = append(f.Evidence, late...), append(f.Active, spans...)
		f.Related = append(f.Related, lateStreams(s, spans)...)
		if text != "" {
			said = append(said, text)
			// What it took for a freeze is its own: nobody else's to explain.
			own := intervals.Seconds(intervals.Merge(spans, 0), s.Window.End)
			f.Harm = suspect.Harm{Symptom: scene.StreamFreeze, Amount: own, Unit: "s", Text: fmt.Sprintf("%s of freeze that only snag's own reader saw", units.Lasting(own))}
		}
	}
	if late, spans, text := heldUp(r); len(late) > 0 {
		f.Evidence, f.Active = append(f.Evidence, late...), append(f.Active, spans...)
		if text != "" {
			said = append(said, text)
		}
	}
	for _, c := range countedBy(r) {
		row, _ := r.Measured(c.measure)
		lost := float64(row.Lost)
		if lost == 0 {
			continue
		}
		e := suspect.Evidence{Side: suspect.Against, Grade: suspect.Weak, Value: lost, Unit: "events", Source: source.Of("coverage " + c.measure), Origin: "lost",
			Text: fmt.Sprintf("%s lost %s events and counted %s", c.measure, units.Count(lost), units.Count(c.n))}
		if lost >= lostShare*(lost+c.n) && lost >= fewLost {
			e.Side = suspect.For
			if !c.every { // what was kept is a sample; the suspects that read it are less sure
				f.Evidence = append(f.Evidence, e)
				continue
			}
			e.Grade = suspect.Decisive
			said = append(said, fmt.Sprintf("%s lost %s events", c.measure, units.OfAll(lost, lost+c.n)))
		}
		f.Evidence = append(f.Evidence, e)
	}
	if len(f.Evidence) == 0 {
		return nil
	}
	f.Active = intervals.Merge(f.Active, measure.Joined)
	f.Text = "snag could not keep up: " + strings.Join(said, ", ")
	if len(said) == 0 {
		f.Text = "snag kept up well enough"
	}
	return []suspect.Finding{f}
}

// ticksOf is how a probe kept its time. No sample is due while nothing is recorded.
func ticksOf(r *recording.Recording, s recording.Series) ticks {
	t := ticks{probe: s.Labels["probe"], n: len(s.Points)}
	end := r.Manifest.End
	unrecorded := intervals.Merge(r.Unrecorded(), 0)
	lasted := func(from, to recording.Time) time.Duration {
		return to.Sub(from) - intervals.Overlap([]recording.Interval{{Start: from, End: to}}, unrecorded, end)
	}
	// Samples begin with the probe, not with the window; they end with the window.
	if len(s.Points) > 0 {
		t.began = lasted(r.Manifest.Start, s.Points[0].T).Seconds()
		t.want = int(lasted(s.Points[0].T, end)/usual(s)) + 1
	}
	long := usual(s).Seconds() + veryLate - 1
	gap := func(from, to recording.Time) {
		if d := lasted(from, to).Seconds(); d >= long {
			t.gaps++
			t.gap += d
			t.missing = append(t.missing, recording.Interval{Start: from, End: to})
		}
	}
	for i, p := range s.Points {
		late := lasted(due(p), p.T).Seconds()
		t.latest = max(t.latest, late)
		if late > veryLate {
			t.late = append(t.late, recording.Interval{Start: due(p), End: p.T})
		}
		if i > 0 {
			gap(s.Points[i-1].T, p.T)
		}
	}
	if n := len(s.Points); n > 0 {
		gap(s.Points[n-1].T, end)
	}
	return t
}

// usual is a probe's period: a second, or the shortest time between the moments at which
// two of its samples were due, where that is more. Samples themselves come closer: after a
// stall a tick that waited is taken at once.
func usual(s recording.Series) time.Duration {
	shortest := time.Duration(0)
	for i := 1; i < len(s.Points); i++ {
		if d := due(s.Points[i]).Sub(due(s.Points[i-1])); shortest == 0 || d < shortest {
			shortest = d
		}
	}
	return max(time.Second, shortest.Round(time.Second))
}

// due is when a tick should have come, of which the value is how late it was.
func due(p recording.Point) recording.Time {
	return p.T.Add(-time.Duration(p.V * float64(time.Second)))
}

// counted is how many events of a measure are in its table. Every: it counts all
// of them in the kernel, whatever the rate, so that a loss is snag's failure;
// the others keep a bounded number of peers a second and let the rest go.
type counted struct {
	measure string
	n       float64
	every   bool
}

func countedBy(r *recording.Recording) []counted {
	drops, opened, resets, again := 0.0, 0.0, 0.0, 0.0
	for _, d := range r.Drops {
		drops += float64(d.N)
	}
	for _, c := range r.Connections {
		opened += float64(c.Opened + c.Failed + c.Closed)
	}
	for _, c := range r.Resets {
		resets += float64(c.N)
	}
	for _, c := range r.Retransmits {
		again += float64(c.N)
	}
	return []counted{
		{"drops.kfree_skb", drops, true},
		{"sockets.connections", opened, false}, {"sockets.resets", resets, false}, {"sockets.retransmits", again, false},
	}
}
