package streams

import (
	"fmt"
	"slices"
	"strconv"

	"snag/internal/calls"
	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var receiverTooSlow = &suspect.Suspect{
	Name:  "receiver-too-slow",
	Title: "a receiver is slower than its sender, all the time",
	About: "It reads, and never catches up: whatever lies between it and its sender (a datagram socket's buffer, a broker's connection, a pipe to a logger) is full for as long as one looks. Datagrams are lost, messages wait, or the sender waits in its write. " +
		"A larger buffer fills just as well, only later. A receiver that stalls now and then looks otherwise: there the buffer is empty in between, and a larger one helps.",
	Needs: []suspect.Need{
		{Measure: "sockets.diag", Must: true, Why: "how full the receiver's buffer was in each sample, and that it read meanwhile"},
		{Measure: "host.netstat", Why: "how many datagrams were read meanwhile"},
		{Measure: "threads.state", Why: "what the receiver did: how much it computed, or waited for a CPU"},
		{Measure: "threads.syscall", Why: "whether it slept between two reads, and whether its sender waits in a write"},
		{Measure: "states", Why: "how long requests waited for room in a pipe"},
	},
	For: []string{
		"decisive: a UDP socket lost datagrams in each second, its buffer was full or nearly so in nearly all samples, from the first loss on, and it read as many in each second",
		"strong: data waited unread in the socket buffer in most samples at a connection that a program made, and it read all along and answered, or a thread of its sender sat in a write to it",
		"decisive (capture): it offered no window for two seconds and more, or for a third of the time, and its sender had more to send",
		"strong: its thread computed for 70 % of the time, or was found asleep between its reads in most samples",
		"strong: a thread waited in a write to a full pipe for whole seconds. Three times as many requests were open then as at other times, and no thread worked on them",
		"strong: a fifth or more of the delay of a service's answers was waiting for room in a pipe; the pipe was full in the samples of its threads",
	},
	Against: []string{
		"decisive: it was ready and got no CPU, or it was stopped: then it is not slow itself",
		"trap: bursts: the buffer is full for a moment, and empty in other samples",
		"trap: a player that reads no faster than it shows, from a server that does not wait for it",
		"can't tell: what it spends its time on, where its function is not known",
	},
	InFiles: map[string][]string{"sockets.diag": {"pcap.flows"}},
	LeadsTo: measure.LatencyLeads(suspect.Lead{To: "udp-receive-buffer-full", Lag: measure.FeltWithin}, suspect.Lead{To: "slow-consumer", Lag: measure.FeltWithin}, suspect.Lead{To: "worker-queue", Lag: measure.FeltWithin}, suspect.Lead{To: "busy-thread", Lag: measure.FeltWithin},
		suspect.Lead{To: "log-silence", Lag: measure.FeltWithin}, suspect.Lead{To: scene.LogSilence, Lag: measure.FeltWithin}, suspect.Lead{To: scene.FramesSkipped, Lag: 2 * measure.FeltWithin}, suspect.Lead{To: "listen-overflow", Lag: 2 * measure.FeltWithin}, suspect.Lead{To: "slow-dependency", Lag: measure.FeltWithin}),
	Claims: []ledger.Account{ledger.Pipe, ledger.Write, ledger.Window},
	Remedy: suspect.Remedy{
		Permanently: "More receivers. Not a larger buffer: it fills just as well, only later.",
		Program:     "Less work for each message: in batches, on other threads, without a sync. A sender that sends less, or drops what its receiver can't take instead of waiting.",
	},
	Verified: "its queue is empty in most samples",
	Next:     "snag profile --pid PID   # what the receiver computes; snag blocked --pid PID   # what it waits for",

	WeighBooked: weighReceiverTooSlow,
}

// mostLooks is the share at which data waits unread that a receiver does not get to.
const mostLooks = 0.6

// computesAll is the share of the time that a thread computes which has no time to read.
const computesAll = 0.7

// answersBack is the least part of what it reads that a consumer sends back, as
// acknowledgements or results.
const answersBack = 0.05

// inPipe is the least share of a felt delay that is waiting for room in a pipe.
const inPipe = 0.2

func weighReceiverTooSlow(s *scene.Scene, r *recording.Recording, l *ledger.Ledger) []suspect.Finding {
	var out []suspect.Finding
	for _, k := range s.Sockets {
		p := k.Owner()
		if p == nil || p.Subject.PID == r.Manifest.SelfPID {
			continue
		}
		switch {
		case k.First().Proto == "udp":
			if f, ok := slowUDP(s, r, k, p); ok {
				out = append(out, f)
			}
		case k.First().Proto == "tcp" && k.Listener == nil && !k.Listening() && madeIt(k) && !asksThere(r, k, p):
			if f, ok := slowTCP(s, k, p); ok {
				out = append(out, f)
			}
		}
	}
	for _, d := range l.Felt {
		if f, ok := slowPipe(s, r, d, false); ok {
			out = append(out, f)
		}
	}
	for _, p := range l.Parties { // of requests without a thread no delay is felt: that may be a long poll
		late := slices.ContainsFunc(s.Symptoms, func(sym scene.Symptom) bool {
			return sym.Name == scene.RequestLatency && scene.IDOf(sym.Subject) == scene.IDOf(p.Subject)
		})
		if p.Role != ledger.Serves || !late || slices.ContainsFunc(l.Felt, func(d ledger.Delay) bool { return d.Party == p }) {
			continue
		}
		if f, ok := slowPipe(s, r, ledger.Delay{Party: p}, true); ok {
			out = append(out, f)
		}
	}
	return append(out, shutInCapture(s, r)...)
}

func slowUDP(s *scene.Scene, r *recording.Recording, k *scene.Socket, p *scene.Process) (suspect.Finding, bool) {
	full, looks, always := measure.AlwaysFull(k)
	read, least, counted := readDatagrams(r, k)
	if !always || counted && least == 0 && looks < len(k.Rows)-1 { // it read in time before, and then not at all
		return suspect.Finding{}, false
	}
	lost := measure.OwnDrops(k)
	f := suspect.Finding{Subject: k.Subject, Active: lost.Active(), Related: []recording.Subject{p.Subject}}
	f.Text = fmt.Sprintf("%s never catches up: its buffer of %s was full or nearly so in %d of %d samples, and %s datagrams were lost", p.Subject.Name, units.Bytes(float64(k.Last().RcvBuf)), full, looks, units.Count(lost.Sum()))
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(full) / float64(looks), Unit: "share", Source: source.SS("-uamn skmem", source.ReceiveMemory, source.Word("rb"), source.SocketDrops), Origin: "sk_rmem_alloc",
		Text: fmt.Sprintf("the buffer was full or nearly so in %d of %d samples, and datagrams were lost from sample to sample", full, looks)}
	if counted && least > 0 {
		e.Grade, e.Source = suspect.Decisive, e.Source.And(source.SNMP("Udp", "InDatagrams"))
		e.Text += fmt.Sprintf("; it read all along, %s in all, %s in its slowest second", units.Count(read), units.Count(least))
	}
	f.Evidence = append([]suspect.Evidence{e}, readerDid(s, p)...)
	of := measure.UDPArrived(r, k.First().Netns)
	f.Harm = suspect.Harm{Symptom: scene.DatagramsLost, Amount: lost.Sum(), Of: of, Unit: "datagrams", Text: fmt.Sprintf("%s datagrams to %s lost", units.OfAll(lost.Sum(), of), k.Subject.Local)}
	return tooSlow(f, p), true
}

// readDatagrams is how many datagrams were read in the namespace of a socket, in all and in
// the slowest second: the kernel counts them when they are read (net/ipv4/udp.c, udp_recvmsg).
func readDatagrams(r *recording.Recording, k *scene.Socket) (all, least float64, ok bool) {
	series, ok := measure.Counter(r, k.First().Netns, "node_netstat_Udp_InDatagrams")
	if !ok {
		return 0, 0, false
	}
	for i, grown := range series.Steps() {
		if grown.T.Sub(series.Points[i].T).Seconds() < 0.5 || grown.T > k.Last().T {
			continue // the last look comes at once
		}
		all += grown.V
		if least == 0 || grown.V < least {
			least = grown.V
		}
		if grown.V == 0 {
			return all, 0, true
		}
	}
	return all, least, true
}

// asksThere tells of a service that got answers on such connections: what waits unread is an answer,
// and who waits for it are its own clients.
func asksThere(r *recording.Recording, k *scene.Socket, p *scene.Process) bool {
	whole := []recording.Interval{{Start: r.Manifest.Start, End: r.Manifest.End}}
	return measure.TurnsOf(r, p.Subject.PID, "call", k.First().Remote, whole).N > 0 && measure.TurnsOf(r, p.Subject.PID, "serve", "", whole).N > 0
}

// madeIt reports whether a connection was made by the end that has it: from a port of the
// kernel's choice to a service's. Requests that wait unread at a service are others' business.
func madeIt(k *scene.Socket) bool {
	from, err1 := strconv.Atoi(recording.Port(k.First().Local))
	to, err2 := strconv.Atoi(recording.Port(k.First().Remote))
	return err1 == nil && err2 == nil && from > to
}

// slowTCP is a program's own connection at which data waits unread at most looks: a broker's
// consumer, which answers or acknowledges, or one that only reads and whose sender waits for it.
func slowTCP(s *scene.Scene, k *scene.Socket, p *scene.Process) (suspect.Finding, bool) {
	unread, looks, most, read, sent := 0, 0, 0, 0.0, 0.0
	var pieces []float64
	for i := 1; i < len(k.Rows); i++ {
		a, b := k.Rows[i-1], k.Rows[i]
		if a.TCP == nil || b.TCP == nil || b.State != "ESTABLISHED" {
			continue
		}
		looks++
		if b.RecvQ > 0 {
			unread++
			most = max(most, b.RecvQ)
		}
		pieces = append(pieces, float64(b.TCP.BytesReceived)-float64(a.TCP.BytesReceived)-float64(b.RecvQ-a.RecvQ))
		read += pieces[len(pieces)-1]
		sent += float64(b.TCP.BytesSent) - float64(a.TCP.BytesSent)
	}
	if looks < measure.FewLooks || float64(unread) < mostLooks*float64(looks) || read <= 0 || !steady(pieces, read) {
		return suspect.Finding{}, false
	}
	waits, behind, held := senderWaits(s, k)
	if sent < answersBack*read && !held {
		return suspect.Finding{}, false // a player that reads no faster than it shows
	}
	f := suspect.Finding{Subject: p.Subject, Related: []recording.Subject{k.Subject}}
	if k.Peer != nil {
		f.Related = append(f.Related, k.Peer.Subject)
	}
	f.Text = fmt.Sprintf("it does not keep up with what %s sends: data waited unread in the socket buffer in %d of %d samples", k.First().Remote, unread, looks)
	f.Evidence = append([]suspect.Evidence{{Side: suspect.For, Grade: suspect.Strong, Value: float64(unread) / float64(looks), Unit: "share", Source: source.SS("-tnp", source.RecvQ, source.BytesReceived), Origin: "receive queue",
		Text: fmt.Sprintf("up to %s from %s waited unread in the socket buffer in %d of %d samples, and it read %s meanwhile", units.Bytes(float64(most)), k.First().Remote, unread, looks, units.Bytes(read))}}, readerDid(s, p)...)
	if held {
		f.Evidence = append(f.Evidence, waits)
		f.Related = append(f.Related, k.Peer.Owner().Subject)
		f.Harm = behind
	}
	return tooSlow(f, p), true
}

// steady reports whether something was read between nearly all looks: one that stops for seconds
// is stuck, and whoever writes to it (slow-consumer).
func steady(pieces []float64, sum float64) bool {
	n := 0
	for _, v := range pieces {
		if v >= 0.2*sum/float64(len(pieces)) {
			n++
		}
	}
	return float64(n) >= measure.NearlyAlways*float64(len(pieces))
}

// senderWaits reports whether a thread of the process at the other end sits in writes to this
// connection at most looks, and how far it is behind with what it relays meanwhile.
func senderWaits(s *scene.Scene, k *scene.Socket) (waits suspect.Evidence, behind suspect.Harm, held bool) {
	if k.Peer == nil || k.Peer.Owner() == nil {
		return waits, behind, false
	}
	c := &consumer{relay: k.Peer.Owner(), socket: k.Peer, active: []recording.Interval{s.Window}}
	c.lookThreads()
	part, share := measure.ShareOf(c.inWrite, c.samples)
	waits = suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: share, Unit: "share", Source: source.Calls.As("/proc/PID/task/TID/syscall"), Origin: "the sender's system call",
		Text: fmt.Sprintf("thread %d of %s, which sends, waited in %s to it in %s samples", c.tid, c.relay.Subject.Name, c.call, part)}
	for _, in := range c.relay.Sockets {
		if in.First().Proto != "tcp" || in.Listening() || !isIngest(in) {
			continue
		}
		c.lookIngest(in)
		if rate := overall(in, func(row recording.Socket) float64 { return float64(row.TCP.BytesReceived) }); c.waiting && rate > 0 {
			late := float64(c.ingestQ) / rate
			behind = suspect.Harm{Symptom: scene.StreamLate, Amount: late, Unit: "s", Text: fmt.Sprintf("%s of %s wait at %s: it is %s behind", units.Bytes(float64(c.ingestQ)), c.ingest, c.relay.Subject.Name, units.Lasting(late))}
		}
	}
	return waits, behind, c.samples >= measure.FewLooks && share >= mostOfIt
}

// readerDid is what the receiver was found at: why it is slow, or why it is not slow itself.
func readerDid(s *scene.Scene, p *scene.Process) (out []suspect.Evidence) {
	if b := measure.BusiestOf(s, []int{p.Subject.PID}); b != nil {
		e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: b.Ran / b.Span, Unit: "share", Source: source.Schedstat.As(fmt.Sprintf("/proc/%d/task/%d/schedstat", p.Subject.PID, b.TID)), Origin: "schedstat"}
		switch {
		case b.Waited > measure.Starved*(b.Ran+b.Waited) && b.Waited > 0.2*b.Span:
			e.Side, e.Grade, e.Value, e.Unit = suspect.Against, suspect.Decisive, b.Waited, "s"
			e.Text = fmt.Sprintf("thread %d of it waited %s for a CPU and ran for %s: it gets no CPU", b.TID, units.Lasting(b.Waited), units.Lasting(b.Ran))
			out = append(out, e)
		case b.Ran >= computesAll*b.Span:
			e.Text = fmt.Sprintf("its thread %d (%s) computed for %.0f %% of the time", b.TID, b.Comm, 100*b.Ran/b.Span)
			out = append(out, e)
		}
	}
	looks, asleep, stopped, call := 0, 0, 0, ""
	for _, t := range p.Threads {
		for _, row := range t.Rows {
			if len(p.Threads) > 1 && row.TID != p.Subject.PID {
				continue // the first thread reads, in most programs of one reader
			}
			looks++
			switch {
			case row.State == "T" || row.State == "t":
				stopped++
			case calls.Of(row.Syscall)&calls.Sleeps != 0:
				asleep++
				call = row.Syscall
			}
		}
	}
	e := suspect.Evidence{Grade: suspect.Strong, Unit: "share", Source: source.CallsOf(p.Subject.PID), Origin: "system call"}
	switch part, share := measure.ShareOf(max(asleep, stopped), looks); {
	case looks < measure.FewLooks || share < 0.5:
	case stopped > asleep:
		e.Side, e.Grade, e.Value = suspect.Against, suspect.Decisive, share
		e.Text = fmt.Sprintf("it was stopped (state T) in %s samples", part)
		out = append(out, e)
	default:
		e.Side, e.Value = suspect.For, share
		e.Text = fmt.Sprintf("it was asleep in %s in %s samples: it sleeps between its reads", call, part)
		out = append(out, e)
	}
	return out
}

// tooSlow completes a finding: evidence that it is not slow itself stands alone.
func tooSlow(f suspect.Finding, p *scene.Process) suspect.Finding {
	for _, e := range f.Evidence {
		if e.Side == suspect.Against && e.Grade == suspect.Decisive {
			f.Evidence[0].Grade = suspect.Weak
			f.Text = "it does not keep up, and not by its own doing: " + e.Text
		}
	}
	f.Remedy = suspect.Remedy{Permanently: "More receivers: a larger buffer only fills later.", Program: fmt.Sprintf("%s: less work for each message (in batches, on other threads).", measure.OrProgram(p.Subject.Comm))}
	f.Next = fmt.Sprintf("snag profile --pid %[1]d   # what it computes; snag blocked --pid %[1]d   # what it waits for", p.Subject.PID)
	return f
}
