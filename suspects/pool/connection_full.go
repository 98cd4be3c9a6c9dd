package pool

import (
	"fmt"
	"slices"
	"strings"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// A limit that is reached keeps connections waiting to be accepted at most looks, while less
// than this part of those that were accepted is at work.
const (
	keepsWaiting = 0.8
	atWork       = 0.7
	// someFree workers on average could take what waits; where requests spend busyAcceptor of
	// their time on a CPU, or in line for one, it may be the thread that accepts.
	someFree, busyAcceptor = 1, 0.5
)

// acceptNoMore are services that accept no more connections though what they have is mostly
// idle: HAProxy at its maxconn, waitress at connection_limit, Tomcat at maxConnections.
func acceptNoMore(s *scene.Scene, r *recording.Recording, l *ledger.Ledger) (out []suspect.Finding) {
	if l == nil {
		return nil
	}
	for _, p := range l.Parties {
		k := s.Socket(scene.IDOf(p.Subject))
		if p.Role != ledger.Serves || k == nil || !k.Listening() {
			continue
		}
		waited, most := 0, 0
		var full []recording.Interval
		for _, row := range k.Rows {
			if row.RecvQ > 0 {
				waited++
				full = append(full, measure.OneSecond(row.T))
			}
			most = max(most, int(row.RecvQ))
		}
		if float64(waited) < keepsWaiting*float64(len(k.Rows)) {
			continue
		}
		if p.Free >= someFree && !acceptFails(r, p) && p.Share(ledger.Work)+p.Share(ledger.CPU) < busyAcceptor {
			out = append(out, workersFree(p, waited, len(k.Rows), most, full))
			continue
		}
		least, held, looks := stayed(s, p.Subject)
		if looks < 3 || held == 0 || float64(held-least) > max(1, atLimit*float64(held)) {
			continue
		}
		out = append(out, fullFinding(p, held, looks, most, full))
	}
	return out
}

// haveIdleConnections are the processes that accept no more connections while those that they
// have, or their workers, are mostly idle: whatever their requests wait for, it does not keep
// others from being accepted.
func haveIdleConnections(s *scene.Scene, r *recording.Recording, l *ledger.Ledger) (out []*scene.Process) {
	for _, f := range acceptNoMore(s, r, l) {
		if k := s.Socket(scene.IDOf(f.Subject)); k != nil && !slices.ContainsFunc(f.Evidence, func(e suspect.Evidence) bool { return e.Side == suspect.Against }) {
			out = append(out, k.Owners...)
		}
	}
	return out
}

// acceptFails reports whether its accept calls fail. Then it is not at a limit of its own
// (fd-limit).
func acceptFails(r *recording.Recording, p *ledger.Party) bool {
	return slices.ContainsFunc(r.CallErrors, func(e recording.CallError) bool {
		return slices.Contains(p.PIDs, e.PID) && strings.HasPrefix(e.Call, "accept")
	})
}

// workersFree is a service whose workers wait for work while connections wait to be accepted,
// at nearly every look: something keeps it from accepting them, as a limit does.
func workersFree(p *ledger.Party, waited, looks, most int, full []recording.Interval) suspect.Finding {
	port := recording.Port(p.Subject.Local)
	share := float64(waited) / float64(looks)
	f := suspect.Finding{Subject: p.Subject, Active: intervals.Merge(full, measure.Joined),
		Text: fmt.Sprintf("up to %d connections wait to be accepted while %.1f of its workers have nothing to do", most, p.Free),
		Next: fmt.Sprintf("ss -ltn 'sport = :%s'; ss -Htn state established '( sport = :%s )'   # who waits, and who holds them", port, port)}
	f.Evidence = []suspect.Evidence{
		{Side: suspect.For, Grade: suspect.Strong, Value: share, Unit: "share", Source: source.SS("-ltn", source.RecvQ), Origin: "sockets",
			Text: fmt.Sprintf("in %d of %d samples connections waited to be accepted, up to %d", waited, looks, most)},
		{Side: suspect.For, Grade: suspect.Strong, Value: p.Free, Unit: "threads", Source: source.ThreadState, Origin: "threads",
			Text: fmt.Sprintf("%.1f threads of the pool that takes its requests waited for work at a moment, and %.2g requests were open", p.Free, p.Open)},
	}
	f.Harm = suspect.Harm{Symptom: scene.ConnectLatency, Amount: float64(most), Unit: "connections", Text: fmt.Sprintf("up to %s waited to be accepted", units.Plural(most, "connection"))}
	f.Remedy = suspect.Remedy{Permanently: p.Subject.Comm + ": a larger limit of connections in its configuration, if its memory allows.", Program: "Clients that keep their connections and share them."}
	return f
}

func fullFinding(p *ledger.Party, held, looks, most int, full []recording.Interval) suspect.Finding {
	port := recording.Port(p.Subject.Local)
	f := suspect.Finding{Subject: p.Subject, Active: intervals.Merge(full, measure.Joined),
		Text: fmt.Sprintf("it accepts no more than %s, and up to %d wait to be accepted", units.Plural(held, "connection"), most),
		Next: fmt.Sprintf("ss -ltn 'sport = :%s'; ss -Htn state established '( sport = :%s )'   # who waits, and who holds them", port, port)}
	use := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: p.Open / float64(held), Unit: "share", Source: source.AllTurns, Origin: "turns",
		Text: fmt.Sprintf("on these, %.2g requests were open at a moment: most of them are idle", p.Open)}
	if p.Open > atWork*float64(held) {
		use.Side, use.Grade = suspect.Against, suspect.Decisive
		use.Text = fmt.Sprintf("on these, %.2g requests were open at a moment: those who would accept are at work", p.Open)
	}
	f.Evidence = []suspect.Evidence{{Side: suspect.For, Grade: suspect.Strong, Value: float64(held), Unit: "connections", Source: source.Of("ss -tn state established").And(source.SS("-ltn", source.RecvQ)), Origin: "sockets",
		Text: fmt.Sprintf("%s stayed in each of %d samples, and others waited to be accepted meanwhile", units.Plural(held, "connection"), looks)}, use}
	f.Harm = suspect.Harm{Symptom: scene.ConnectLatency, Amount: float64(most), Unit: "connections", Text: fmt.Sprintf("up to %s waited to be accepted", units.Plural(most, "connection"))}
	f.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("%s: a limit above %d connections in its configuration, if its memory allows, and a shorter idle timeout.", p.Subject.Comm, held),
		Program: "Clients that share connections."}
	return f
}
