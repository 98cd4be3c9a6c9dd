package pool

import (
	"fmt"
	"slices"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

const (
	// mostWork of the CPU time of a process is one thread's where that does one thing at a time.
	mostWork = 0.8
	// dearer: an answer in seconds with late ones takes so many times as much CPU time as in others.
	// A thread that was kept from its work and catches up computes as much for each as ever.
	dearer = 4
	// ofLate of the time of the longest late answer is computing, at the least, and so long: what is
	// shorter makes nobody late.
	ofLate   = 0.5
	longTask = 0.05 // s
)

// cpuOf is the CPU time of a thread in some part of the window, and the answers of its service.
type cpuOf struct{ ran, answers, seconds float64 }

func (c cpuOf) each() float64 { return c.ran / max(c.answers, 1) }

// busyWhenLate is a service most of whose answers are quick, and whose one thread computed for long
// when some were late: too seldom for the delay of all to be felt.
func busyWhenLate(s *scene.Scene, r *recording.Recording, p *ledger.Party) (suspect.Finding, bool) {
	late := lateSpans(s, p)
	b := measure.BusiestOf(s, p.PIDs)
	if len(late) == 0 || b == nil || b.Ran < mostWork*b.All || b.Waited > measure.Starved*(b.Ran+b.Waited) {
		return suspect.Finding{}, false
	}
	in, out, most := splitCPU(r, p, b, late)
	longest := max(p.Max, p.Oldest)
	if out.answers < fewInStep || in.each() < dearer*out.each() || most < max(longTask, ofLate*longest) {
		return suspect.Finding{}, false
	}
	pid := b.Process.Subject.PID
	f := suspect.Finding{Subject: b.Process.Subject, Active: late, Related: []recording.Subject{p.Subject},
		Text: fmt.Sprintf("its requests wait unread in the socket buffer while thread %d (%s) computes, for up to %s at a time", b.TID, b.Comm, units.Short(min(most, longest))),
		Next: fmt.Sprintf("snag profile --pid %d   # in which function", pid)}
	f.Evidence = []suspect.Evidence{
		{Side: suspect.For, Grade: suspect.Strong, Value: in.each(), Unit: "s", Source: source.SchedstatOf(pid).And(source.Turns), Origin: "late answers",
			Text: fmt.Sprintf("around its late answers thread %d computed for %s of %s, %s for each answer; at other times %s for each", b.TID, units.Lasting(in.ran), units.Lasting(in.seconds), units.Short(in.each()), units.Short(out.each()))},
		{Side: suspect.For, Grade: suspect.Strong, Value: b.Ran / b.All, Unit: "share", Source: source.SchedstatOf(pid), Origin: "schedstat",
			Text: fmt.Sprintf("that thread did %.0f %% of the work of its process: no other thread takes what comes meanwhile", 100*b.Ran/b.All)},
	}
	f.Remedy = suspect.Remedy{Program: fmt.Sprintf("%s: give the long task to another thread or process, or cut it into pieces between which others have their turn.", b.Process.Subject.Comm)}
	return f, true
}

// lateSpans are the times from when the late answers of a party were asked until they came.
func lateSpans(s *scene.Scene, p *ledger.Party) (out []recording.Interval) {
	for _, sym := range s.Symptoms {
		if sym.Name == scene.RequestLatency && scene.IDOf(sym.Subject) == scene.IDOf(p.Subject) {
			for _, i := range sym.Active {
				out = append(out, recording.Interval{Start: i.Start.Add(-measure.Duration(p.Max)), End: i.End})
			}
		}
	}
	return intervals.Merge(out, 0)
}

// splitCPU is what a thread ran for around late answers and at other times, and the most that it
// ran for from one sample to the one after the next.
func splitCPU(r *recording.Recording, p *ledger.Party, b *measure.BusiestThread, late []recording.Interval) (in, out cpuOf, most float64) {
	i := slices.IndexFunc(b.Process.Threads, func(t *scene.Thread) bool { return t.Rows[0].TID == b.TID })
	rows := b.Process.Threads[i].Rows
	for k := 1; k < len(rows); k++ {
		span := recording.Interval{Start: rows[k-1].T, End: rows[k].T}
		to, ran := &out, rows[k].OnCPU-rows[k-1].OnCPU
		if intervals.Overlap(late, []recording.Interval{span}, span.End) > 0 {
			to = &in
			most = max(most, rows[k].OnCPU-rows[max(0, k-2)].OnCPU)
		}
		to.ran += ran
		to.seconds += span.End.Sub(span.Start).Seconds()
		to.answers += answersIn(r, p, span)
	}
	return in, out, most
}

// answersIn is how many answers a party gave in some time: of a second that lies in it in part, as
// large a part.
func answersIn(r *recording.Recording, p *ledger.Party, span recording.Interval) (n float64) {
	for _, row := range r.Turns {
		if row.Role != string(ledger.Serves) || !slices.Contains(p.PIDs, row.PID) {
			continue
		}
		n += float64(row.N) * intervals.Seconds(intervals.Clip([]recording.Interval{measure.OneSecond(row.T)}, span), span.End)
	}
	return n
}
