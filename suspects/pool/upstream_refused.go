package pool

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var upstreamRefused = &suspect.Suspect{
	Name:  "upstream-refused",
	Title: "connections are refused: nothing listens there",
	About: "A program asks for a connection, and the host at the other end answers each time with a reset: the service there has ended, listens elsewhere, or was never started. " +
		"What was to be had from it fails at once, or is tried again and again. A port that is filtered answers nothing, and a full backlog nothing either.",
	Needs: []suspect.Need{
		{Measure: "sockets.connections", Must: true, Why: "which connections failed, and which process asked for them"},
		{Measure: "sockets.errors", Why: "that they failed with ECONNREFUSED"},
		{Measure: "sockets.resets", Why: "that the other end answered with a reset, and for want of a listener"},
		{Measure: "sockets.diag", Why: "whether anybody listens there, if it is this host"},
	},
	For: []string{
		"decisive: connections of one process to one address failed, and as many were refused by the kernel's own account (ECONNREFUSED, resets in SYN_SENT)",
		"decisive (capture): the SYNs were answered by a reset, each of them",
		"strong: the address is this host's, and nothing listened there",
		"strong: somebody listened there until then, and ended",
	},
	Against: []string{
		"decisive: the same program reached the same port at another address each time: it tries one after the other (::1 before 127.0.0.1)",
		"decisive: it was refused by many addresses, a few times by each: it looks for what listens",
		"decisive: somebody listened there all along: a firewall answers for it",
		"trap: a service that restarts refuses for a moment",
		"can't tell: why nothing listens on another host",
	},
	LeadsTo: []suspect.Lead{{To: "server-stall", Lag: 10 * time.Second}, {To: "error-answers", Lag: 10 * time.Second}, {To: scene.ConnectionErrors, Lag: 2 * time.Second}, {To: scene.RequestLatency, Lag: measure.FeltWithin}, {To: scene.ConnectLatency, Lag: measure.FeltWithin},
		{To: "reconnect-storm", Lag: 10 * time.Second}, {To: "log-silence", Lag: time.Minute}, {To: "ephemeral-ports", Lag: time.Minute}},
	Remedy: suspect.Remedy{
		Now:         "systemctl start UNIT",
		Permanently: "Start what listens at that address, and enable it. Or take the address out of the caller's configuration.",
	},
	Verified: "its connections are opened, and ECONNREFUSED does not grow",
	Next:     "ss -ltnp 'sport = :PORT'   # on that host: who listens",
	Weigh:    weighUpstreamRefused,
}

type refusal struct{ *scene.Refusal }

func weighUpstreamRefused(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	var out []suspect.Finding
	for _, one := range scene.Refusals(r) {
		c := refusal{one}
		if one.Failed < measure.FewRefused {
			continue
		}
		if n := c.refused(r); n >= measure.FewRefused && n >= 0.5*float64(one.Failed) {
			out = append(out, c.finding(s, r, n))
		} // what fails without a word is another's: nothing answered
	}
	return append(out, refusedInCapture(s, r)...)
}

// refused is how often the kernel was told by that address that nobody listens: the error
// that the reset left on the socket, or the reset itself.
func (c refusal) refused(r *recording.Recording) float64 {
	calls := map[string]float64{}
	for _, e := range r.CallErrors {
		if e.Errno == "ECONNREFUSED" && e.Netns == c.Netns && e.Remote == c.Remote && (e.PID == 0 || e.PID == c.PID) {
			calls[e.Call] += float64(e.N)
		}
	}
	most := 0.0
	for _, n := range calls {
		most = max(most, n)
	}
	resets := 0.0
	for _, row := range r.Resets {
		if row.Dir == "received" && row.State == "SYN_SENT" && row.Netns == c.Netns && row.Remote == c.Remote && (row.PID == 0 || row.PID == c.PID) {
			resets += float64(row.N)
		}
	}
	return max(most, resets)
}

func (c refusal) finding(s *scene.Scene, r *recording.Recording, refused float64) suspect.Finding {
	failed, asked := float64(c.Failed), float64(c.Failed+c.Opened)
	var seconds measure.Steps
	for _, row := range c.Rows {
		seconds = append(seconds, measure.Step{Interval: measure.OneSecond(row.T), N: float64(row.Failed)})
	}
	caller := c.Caller(s)
	f := suspect.Finding{Subject: recording.Subject{Kind: recording.KindPeer, Netns: c.Netns, Proto: "tcp", Remote: c.Remote, PID: c.PID, Comm: c.Comm}, Active: seconds.Active(),
		Next: fmt.Sprintf("ss -ltnp 'sport = :%s'   # on %s: who listens", recording.Port(c.Remote), recording.Host(c.Remote))}
	who := s.Name(caller)
	f.Text = fmt.Sprintf("%s of %s connections of %s to %s were refused: nothing listens there", units.Count(failed), units.Count(asked), who, c.Remote)
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Decisive, Value: refused, Unit: "connections", Source: source.Connections.And(source.Of("sk_error_report ECONNREFUSED")).And(source.Of("tcp:tcp_receive_reset", source.Resets)), Origin: "refused",
		Text: fmt.Sprintf("%s of %s connections to %s failed, and %s were answered by a reset (ECONNREFUSED)", units.Count(failed), units.Count(asked), c.Remote, units.Count(refused))}
	if other := c.Elsewhere; other != nil {
		e.Side, e.Text = suspect.Against, e.Text+fmt.Sprintf("; it reached %s %s times: it tries one address after the other", other.Remote, units.Count(float64(other.Opened)))
	} else if c.Searches() {
		e.Side, e.Text = suspect.Against, e.Text+fmt.Sprintf("; it was refused by %d addresses: it looks for what listens", c.Addresses)
	}
	f.Evidence, f.Related = []suspect.Evidence{e}, []recording.Subject{caller}
	if e.Side == suspect.Against {
		return f
	}
	if c.Opened > c.Failed { // it listens, and not all the time
		f.Text = fmt.Sprintf("%s of %s connections of %s to %s were refused: at times nothing listens there", units.Count(failed), units.Count(asked), who, c.Remote)
	}
	if here, e := c.here(s, r); here {
		if f.Evidence = append(f.Evidence, e); e.Side == suspect.Against {
			f.Evidence[0].Grade = suspect.Strong // it was refused, and not for want of a listener
			return f
		}
		f.Remedy = suspect.Remedy{Now: c.startAgain(s, r), Permanently: fmt.Sprintf("Start the service that is to listen on %s of this host, and enable it. Or take the address out of the configuration of %s.", c.Remote, c.Comm)}
	} else {
		f.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("Start the service that is to listen on %s (on that host: ss -ltn 'sport = :%s'). Or take the address out of the configuration of %s.", c.Remote, recording.Port(c.Remote), c.Comm)}
	}
	if !c.Missed() {
		return f // it looks again and again whether somebody listens, and nobody was seen to miss it
	}
	f.Harm = suspect.Harm{Symptom: scene.ConnectionErrors, Amount: failed, Of: asked, Unit: "connections",
		Text: fmt.Sprintf("%s of %s connections to %s failed", units.Count(failed), units.Count(asked), c.Remote)}
	return f
}

// here reports whether the address is of this host, what its own kernel says, and who listened
// there. Against it is that somebody listens all along: then a firewall answers.
func (c refusal) here(s *scene.Scene, r *recording.Recording) (bool, suspect.Evidence) {
	n := 0.0
	for _, row := range r.Resets {
		if row.Dir == "sent" && row.Reason == "NO_SOCKET" && row.Local == c.Remote {
			n += float64(row.N)
		}
	}
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: n, Unit: "resets", Source: source.Of("ss -ltn").And(source.Tracepoint("tcp:tcp_send_reset NO_SOCKET", source.Resets)), Origin: "no listener"}
	if k := c.listener(s); k != nil {
		switch soon := 2 * time.Second; {
		case k.Last().T.Add(soon) < s.Window.End:
			e.Text = fmt.Sprintf("%s listened there until %s, and nothing since", s.Name(k.Subject), k.Last().T)
		case k.First().T > s.Window.Start.Add(soon):
			e.Text = fmt.Sprintf("%s listens there since %s, and nothing did before", s.Name(k.Subject), k.First().T)
		default:
			e.Side, e.Grade = suspect.Against, suspect.Decisive
			e.Text = fmt.Sprintf("%s listened there all along: something before it refuses, as a firewall does (nft list ruleset)", s.Name(k.Subject))
		}
		return true, e
	}
	if n == 0 && !onLoopback(c.Remote) {
		return false, e
	}
	e.Text = fmt.Sprintf("the address is this host's, and nothing listened on %s", c.Remote)
	if n > 0 {
		e.Text += fmt.Sprintf(": its kernel sent %s resets for want of a socket", units.Count(n))
	}
	return true, e
}

// listener is whose socket takes connections at the address, of any namespace of this host
// that has it.
func (c refusal) listener(s *scene.Scene) *scene.Socket {
	for _, k := range s.Sockets {
		f := k.First()
		if !k.Listening() || recording.Port(f.Local) != recording.Port(c.Remote) {
			continue
		}
		if recording.Host(f.Local) == recording.Host(c.Remote) && !onLoopback(f.Local) || f.Netns == c.Netns && (f.Local == c.Remote || measure.IsWildcard(f.Local) && onLoopback(c.Remote)) {
			return k
		}
	}
	return nil
}

// startAgain starts the unit whose process listened there and ended; "" where it is not
// known, or has other processes that live.
func (c refusal) startAgain(s *scene.Scene, r *recording.Recording) string {
	k := c.listener(s)
	if k == nil || k.Owner() == nil {
		return ""
	}
	unit := remedy.ManagedUnit(k.Owner())
	if !strings.HasSuffix(unit, ".service") || slices.ContainsFunc(s.Processes, func(p *scene.Process) bool { return p.Last().Unit == unit && remedy.Lasts(r, p) }) {
		return ""
	}
	return "systemctl start " + remedy.Quoted(unit)
}

func onLoopback(address string) bool {
	ip := net.ParseIP(recording.Host(address))
	return ip != nil && ip.IsLoopback()
}
