package pool

import (
	"fmt"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/scene"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// neverAnswered are services of which no request was answered, since they wait for others that answer
// nothing: what was asked before the recording began is seen in no probe but by its sockets.
func neverAnswered(s *scene.Scene, l *ledger.Ledger) (out []suspect.Finding) {
	if l == nil {
		return nil
	}
	for _, d := range l.Felt {
		p := d.Party
		if p.Role != ledger.Serves || p.Answered > 0 || len(p.PIDs) == 0 || d.Of([]ledger.Account{ledger.Call}) < mostlyWaits {
			continue
		}
		for _, e := range p.Entries {
			if e.Account != ledger.Call {
				continue
			}
			calls := l.CallsTo(p.Subject.Netns, e.Where)
			if calls == nil || calls.Answered > 0 || calls.Oldest < longOpen {
				break
			}
			name := s.Name(p.Subject)
			f := suspect.Finding{Subject: recording.Subject{Kind: recording.KindPeer, Netns: p.Subject.Netns, Proto: "tcp", Remote: e.Where}, Related: []recording.Subject{p.Subject, calls.Subject},
				Text: fmt.Sprintf("%s waits for %s, which answers nothing: %.2g calls are open for %s and longer", name, e.Where, calls.Open, units.Lasting(calls.Oldest))}
			f.Evidence = []suspect.Evidence{{Side: suspect.For, Grade: suspect.Decisive, Value: calls.Oldest, Unit: "s", Source: source.SS("-ti", source.LastSnd, source.LastRcv).And(source.AllTurns.As("request turns")), Origin: "calls",
				Text: fmt.Sprintf("%.2g requests of it and %.2g of its calls to %s are open at any moment, and in the whole recording none of both was answered", p.Open, calls.Open, e.Where)}}
			if k := s.Callee(recording.Turns{Netns: p.Subject.Netns, Remote: e.Where}); k != nil && ledger.LikeDatabase(k.Subject) {
				f.NotTo = []string{"session-lock"} // which is there, and why it answers nothing
			}
			f.Remedy = quickerCalls(e.Where, p.Subject.Comm, 0)
			f.Next = fmt.Sprintf("snag find --port %s   # where %s is", recording.Port(e.Where), recording.Host(e.Where))
			out = append(out, f)
			break
		}
	}
	return out
}
