package host

import (
	"fmt"
	"sort"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// Steal: from stealTold on it is spoken of, from stealProved on it is as bad as a
// quota that a group meets in every fourth period (see cpu-throttled).
const (
	stealTold   = 0.1
	stealProved = 0.25
	// stealSeconds: so many seconds of it are no hiccup of the hypervisor.
	stealSeconds = 3.0
	// stealLeast of a CPU: of a machine that asks for next to nothing a share says
	// nothing.
	stealLeast = 0.1
	// stealStops: a machine that gets less than a tenth of what it asks for in some second
	// may stop; one that gets more is slow. It must ask for some: of less than stealHalf
	// of a CPU a share of 0.9 is a wake-up that came late.
	stealStops, stealHalf = 0.9, 0.5
	// stealFelt: a smaller part of a service's time, stolen, makes nobody late. unseenMost: of
	// more than that nobody knows.
	stealFelt, unseenMost = 0.1, 0.5
)

// theft is what the hypervisor took, in the seconds in which it took much.
type theft struct {
	active        []recording.Interval
	seconds       float64
	stolen, asked float64 // s of CPU time in them
	worst         float64 // share of one of them
	stops         bool    // in one of them it may have stopped
}

// thefts are the seconds in which the hypervisor gave others a share that proves.
func thefts(r *recording.Recording) theft {
	stolen, asked := map[recording.Interval]float64{}, map[recording.Interval]float64{}
	for _, s := range r.Select("node_cpu_seconds_total") {
		mode := s.Labels["mode"]
		if mode == "idle" || mode == "iowait" {
			continue
		}
		for _, grown := range measure.StepsOf(s) {
			asked[grown.Interval] += grown.N
			if mode == "steal" {
				stolen[grown.Interval] += grown.N
			}
		}
	}
	var t theft
	for span, n := range stolen {
		d := span.End.Sub(span.Start).Seconds()
		if share := n / asked[span]; share >= stealProved && n >= stealLeast*d {
			t.active = append(t.active, span)
			t.seconds += d
			t.stolen += n
			t.asked += asked[span]
			t.worst = max(t.worst, share)
			t.stops = t.stops || share >= stealStops && n >= stealHalf*d
		}
	}
	sort.Slice(t.active, func(i, j int) bool { return t.active[i].Start < t.active[j].Start })
	t.active = intervals.Merge(t.active, measure.Joined)
	return t
}

// unhurried are the parties of whose time so little was for a CPU that what was stolen makes none
// of them late: their threads wait for something else. Unread requests may have waited for a CPU.
func unhurried(l *ledger.Ledger, part float64) (out []recording.Subject) {
	if l == nil {
		return nil
	}
	for _, p := range l.Parties {
		wanted := p.Share(ledger.CPU) + p.Share(ledger.Work) + p.Share(ledger.Unread)
		if p.Role == ledger.Serves && p.Share(ledger.Unseen) < unseenMost && part*wanted < stealFelt {
			out = append(out, p.Subject)
		}
	}
	return out
}

// stolen is the finding on a noisy neighbour outside; nil where there is none.
func stolen(r *recording.Recording, l *ledger.Ledger, all measure.CPUTime) *suspect.Finding {
	asked := all.Total - all.Idle
	if asked <= 0 {
		return nil
	}
	t, share := thefts(r), all.Stolen/asked
	often := share >= stealTold && all.StolenShare() >= stealTold/2
	if !often && t.seconds < stealSeconds {
		return nil
	}
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: share, Unit: "share", Source: source.CPU("/proc/stat steal", "", "steal"), Origin: "steal",
		Text: fmt.Sprintf("the hypervisor gave %s of the %s of CPU time that this machine asked for to others: %.0f %% (healthy under 2 %%)", units.Lasting(all.Stolen), units.Lasting(asked), 100*share)}
	f := suspect.Finding{Subject: recording.Subject{Kind: recording.KindHost}, Active: t.active,
		Text:   fmt.Sprintf("a noisy neighbour outside of this machine: %.0f %% of the CPU time asked for was stolen", 100*share),
		Remedy: suspect.Remedy{Permanently: "Nothing on this machine helps. Ask the provider for another host or for dedicated CPUs."},
		Next:   "sar -u 1 60 | awk '{print $1, $7}'; compare with the provider's CPU ready time",
	}
	if share >= stealProved || t.seconds >= stealSeconds {
		e.Grade = suspect.Decisive
	}
	if t.seconds >= stealSeconds && share < stealProved {
		part := t.stolen / t.asked
		e.Text += fmt.Sprintf("; in %s of them %s of %s, %.0f %%, up to %.0f %%", units.Lasting(t.seconds), units.Lasting(t.stolen), units.Lasting(t.asked), 100*part, 100*t.worst)
		f.Text = fmt.Sprintf("a noisy neighbour outside of this machine: for %s %.0f %% of the CPU time asked for was stolen", units.Lasting(t.seconds), 100*part)
	}
	if !t.stops {
		f.NotTo = []string{scene.StreamFreeze, scene.DatagramsLost, "encoder-stall", "server-stall", "reader-stall",
			"udp-receive-buffer-full", "listen-overflow"} // a queue that half as quick a reader lets run over is too short
	}
	f.Part = share
	if t.asked > 0 { // of what falls on those seconds
		f.Part = max(share, t.stolen/t.asked)
	}
	f.Spares = unhurried(l, f.Part)
	f.Evidence = []suspect.Evidence{e}
	return &f
}
