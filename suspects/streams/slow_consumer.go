package streams

import (
	"fmt"
	"time"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var slowConsumer = &suspect.Suspect{
	Name:  "slow-consumer",
	Title: "one slow reader holds up all others",
	About: "A relay writes to its consumers from one thread, and one of them does not read: the thread blocks in the write to it and no longer reads the publisher, and all other consumers freeze together. " +
		"A relay that never blocks shows the same full queue, and no other consumer freezes.",
	Needs: []suspect.Need{
		{Measure: "sockets.diag", Must: true, Why: "the consumer's send queue and closed window, the publisher's receive queue, what the others got"},
		{Measure: "sockets.owner", Must: true, Why: "which descriptor of which process a socket is"},
		{Measure: "threads.syscall", Why: "the thread that waits in a write to that very descriptor"},
		{Measure: "offcpu.waits", Why: "for how long it was blocked there, and in which function"},
		{Measure: "syscalls.calls", Why: "from when to when it sat in each of those writes"},
	},
	InTrace: []string{recording.Trace, "sockets.turns"},
	For: []string{
		"decisive: a thread of the relay was blocked in a write to the consumer's descriptor for most of the time, by the scheduler's word; its function is named",
		"decisive: a thread of the relay is in a write to the consumer's descriptor sample after sample while its send queue is full, and the publisher's data waits or the others get nothing",
		"strong: the consumer's window is closed (timer persist, rwnd_limited 87 %)",
		"strong: the seconds in which the others got nothing lie in the times that it sat in those writes, and those in which they got something do not",
		"from a trace of its calls: decisive: one thread sat in writes to the consumer for most of some seconds; strong: it wrote next to nothing to the others in them, and did in the seconds between",
		"strong (capture): the consumer's window stays shut; strong: the server's other connections get nothing in that very time; strong: nor does it take what feeds them",
		"strong: the publisher's receive queue fills (1 MB) and the other consumers get nothing in that time",
	},
	Against: []string{
		"decisive: the others were served all along: a relay that does not block, or a thread for each connection",
		"strong: none of the process' threads was in a write to it",
		"trap: a download with one slow reader affects no other client",
	},
	InFiles: map[string][]string{"sockets.diag": {"pcap.flows"}, "sockets.owner": {"pcap.flows"}},
	LeadsTo: []suspect.Lead{
		{To: "server-stall", Lag: 5 * time.Second},
		{To: scene.StreamFreeze, Lag: 5 * time.Second}, {To: scene.StreamLate, Lag: 5 * time.Second}, {To: scene.FramesSkipped, Lag: 10 * time.Second}, {To: scene.RequestLatency, Lag: 5 * time.Second},
		{To: scene.ConnectLatency, Lag: 5 * time.Second}, {To: scene.DatagramsLost, Lag: 5 * time.Second}, {To: "udp-receive-buffer-full", Lag: 5 * time.Second}, {To: "listen-overflow", Lag: 10 * time.Second}, {To: "peer-reset", Lag: time.Minute}},
	Claims: []ledger.Account{ledger.Write},
	Remedy: suspect.Remedy{
		Now:     "ss -K 'dst CONSUMER src LOCAL'",
		Program: "A bounded queue for each consumer, and a rule for what to drop. Writes that do not block. TCP_USER_TIMEOUT on consumers.",
	},
	Verified: "the publisher's receive queue stays empty while one reader is stopped",
	Next:     "ss -tnpomi state established; cat /proc/PID/task/*/syscall   # who waits in a write, on which descriptor",
	Weigh:    weighSlowConsumer,
}

// stuckFor is the least time that a consumer must be stuck: two samples.
const stuckFor = 2 * time.Second

func weighSlowConsumer(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	out := slowInCapture(s, r)
	calls := tracedCalls(r)
	for _, p := range s.Processes {
		if p.Subject.PID == r.Manifest.SelfPID {
			continue
		}
		for _, k := range p.Sockets {
			c := consumerOf(p, k, s.Window)
			if c == nil {
				continue
			}
			if f, ok := c.finding(s, r); ok {
				out = append(out, f)
			}
		}
		if c := consumerByCalls(p, r, calls[p.Subject.PID]); c != nil {
			out = append(out, c.finding(s))
		}
	}
	return out
}

func (c *consumer) finding(s *scene.Scene, r *recording.Recording) (suspect.Finding, bool) {
	f := suspect.Finding{Subject: c.socket.Subject, Active: c.active, Related: []recording.Subject{c.relay.Subject}}
	f.Subject.PID, f.Subject.Comm = c.relay.Subject.PID, c.relay.Subject.Comm
	if c.socket.Peer != nil {
		f.Related = append(f.Related, c.socket.Peer.Subject)
		if p := c.socket.Peer.Owner(); p != nil {
			f.Related = append(f.Related, p.Subject)
		}
	}
	c.look(s.Window)
	blocked := c.blockedIn(r, s.Window)
	if c.onlyThread() {
		// One thread that is in this write reads and writes nothing else: what the
		// others got they got between two such writes.
		c.frozen, c.flowing = c.frozen+c.flowing, 0
	}
	hurts := c.frozen > c.flowing || c.waiting && c.flowing == 0
	served := c.flowing > 0 && c.flowing >= c.frozen
	if len(c.others) == 0 || !hurts && !served {
		return suspect.Finding{}, false // nobody else is there, or nothing shows how they fare
	}
	stuck := intervals.Seconds(c.active, s.Window.End)
	queue := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(c.sendQ), Unit: "B", Source: source.SS("-tnomi").With(source.SendQ, source.RwndLimited), Origin: "the consumer's socket",
		Text: fmt.Sprintf("its send queue holds %s and does not move", units.Bytes(float64(c.sendQ)))}
	if c.persist {
		queue.Text += ", the peer's window is closed (timer persist)"
	}
	if c.limited > 0 {
		queue.Text += fmt.Sprintf(", rwnd_limited %.0f %% of the time", 100*c.limited)
	}
	if !c.persist && c.limited < 0.3 {
		queue.Grade = suspect.Weak
	}
	f.Evidence = append(f.Evidence, queue)
	if served {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Decisive, Value: float64(c.flowing), Unit: "sockets", Source: source.SS("-ti", source.BytesSent).And(source.Of("Recv-Q", source.RecvQ)), Origin: "the other sockets",
			Text: fmt.Sprintf("%d of %d other consumers of this process were served all along: the relay does not block on this one", c.flowing, len(c.others))})
		f.Text = fmt.Sprintf("a consumer that does not read for %s, and delays no other consumer", units.Lasting(stuck))
		return f, true
	}
	others := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(c.frozen), Unit: "sockets", Source: source.SS("-ti", source.BytesSent).And(source.Of("Recv-Q", source.RecvQ)), Origin: "the other sockets",
		Text: fmt.Sprintf("%d of %d other consumers got nothing while it was written to", c.frozen, len(c.others))}
	if c.waiting {
		others.Text += fmt.Sprintf("; up to %s of %s waited to be read", units.Bytes(float64(c.ingestQ)), c.ingest)
	}
	if c.frozen == 0 || !c.waiting {
		others.Grade = suspect.Weak
	}
	if c.inWrite > 0 {
		share, part := measure.ShareOf(c.inWrite, c.samples)
		e := suspect.Evidence{Side: suspect.For, Grade: suspect.Decisive, Value: part, Unit: "share", Source: source.Calls.As("/proc/PID/task/TID/syscall, wchan"), Origin: "system call",
			Text: fmt.Sprintf("its thread %d was in %s on descriptor %d (this socket) in %s samples", c.tid, c.call, c.fd, share)}
		if c.wchan != "" {
			e.Text += ", asleep in " + c.wchan
		}
		if part < 0.5 {
			e.Grade = suspect.Strong
		}
		f.Evidence = append(f.Evidence, e)
	} else if c.samples > 0 && blocked == nil {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Source: source.Calls.As("/proc/PID/task/TID/syscall"), Origin: "system call",
			Text: fmt.Sprintf("none of its threads was seen in a write to this socket (%d samples)", c.samples)})
	}
	if blocked != nil {
		f.Evidence = append(f.Evidence, blocked.writing(c))
	}
	if step := c.inStepWith(r, s.Window); step != nil {
		if e, ok := step.evidence(); ok {
			f.Evidence = append(f.Evidence, e)
		}
	}
	f.Evidence = append(f.Evidence, others)
	who := recording.Host(c.socket.First().Remote)
	f.Text = fmt.Sprintf("%s did not read for %s; %s writes to it and does nothing else: %d other consumers froze", c.socket.First().Remote, units.Lasting(stuck), c.relay.Subject.Name, c.frozen)
	if blocked != nil && blocked.share() >= mostOfIt {
		f.Text += fmt.Sprintf("; %s sits in %s to it", blocked.who(), blocked.call)
	}
	if c.frozen > 0 {
		f.Harm = suspect.Harm{Symptom: scene.StreamFreeze, Amount: stuck * float64(c.frozen), Of: s.Window.Length(s.Window.End).Seconds() * float64(c.frozen), Unit: "s",
			Text: fmt.Sprintf("%d consumers frozen for %s each", c.frozen, units.Lasting(stuck))}
	}
	in := c.relay.Subject.Comm
	if blocked != nil && blocked.function != "" {
		in += ", in " + blocked.function
	}
	f.Remedy = suspect.Remedy{Program: fmt.Sprintf("%s: a bounded queue for each consumer, writes that do not block, TCP_USER_TIMEOUT (5 s).", in)}
	if at := c.socket.First(); c.frozen > 0 && remedy.GoesOn(c.active, s.Window) {
		f.Remedy.Now = remedy.Close(s, at.Netns, at.Local, at.Remote)
	}
	f.Calls = consumerCalls(c.relay.Subject, in)
	f.Next = fmt.Sprintf("for i in 1 2 3; do cat /proc/%d/task/*/syscall; sleep 1; done; ss -tnpomi dst %s", c.relay.Subject.PID, who)
	return f, true
}
