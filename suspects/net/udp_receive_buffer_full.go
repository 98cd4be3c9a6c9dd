package net

import (
	"fmt"
	"math"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var udpReceiveBufferFull = &suspect.Suspect{
	Name:  "udp-receive-buffer-full",
	Title: "UDP receive buffer full",
	About: "Datagrams come faster than the program reads them, and the kernel throws away what does not fit into the socket's receive buffer. The sender is not notified. A reader that stalls for a moment looks the same: then the stall is the root, and a larger buffer only hides it.",
	Needs: []suspect.Need{
		{Measure: "host.netstat", Must: true, Why: "RcvbufErrors of the namespace"},
		{Measure: "sockets.diag", Must: false, Why: "the socket's own drop counter (d) and its buffer (rb)"},
		{Measure: "drops.socket", Must: false, Why: "which socket the dropped datagram was for"},
		{Measure: "threads.state", Must: false, Why: "whether its reader stalled"},
	},
	For: []string{
		"decisive: the socket's d grew by as much as SOCKET_RCVBUFF drops named it",
		"decisive: the d of the namespace's sockets grew by as much as its RcvbufErrors",
		"strong: the buffer was seen nearly full",
	},
	Against: []string{
		"decisive: d grew and RcvbufErrors did not: the datagrams were dropped for another reason",
		"decisive: d is not zero, and did not grow: an old loss",
		"trap: a stalled reader; process-stopped and cpu-throttled lead here",
	},
	LeadsTo: []suspect.Lead{{To: scene.DatagramsLost, Lag: 2 * time.Second}, {To: scene.StreamFreeze, Lag: 5 * time.Second}, {To: scene.FramesSkipped, Lag: 5 * time.Second}},
	Remedy: suspect.Remedy{
		Permanently: "net.core.rmem_max in /etc/sysctl.d, and a restart of the program: an open socket keeps its size. Not where the reader is always slower than its sender.",
		Program:     "Read faster, or ask for a larger buffer (SO_RCVBUF).",
	},
	Verified: "d does not grow, and rb has grown",
	Next:     "ss -uamn; nstat -az UdpRcvbufErrors UdpInErrors",
	Weigh:    weighUDPBuffer,
}

// rcvbufPlaces free the datagram on kernels without reasons (net/ipv4/udp.c,
// __udp_queue_rcv_skb, inlined into its caller).
var rcvbufPlaces = []string{"__udp_queue_rcv_skb", "udp_queue_rcv_one_skb", "udp_queue_rcv_skb", "udpv6_queue_rcv_one_skb", "udpv6_queue_rcv_skb"}

func weighUDPBuffer(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	victims, order := measure.DropsBy(r.Drops, func(d recording.Drop) (measure.DropKey, bool) {
		ok := d.Proto == "udp" && d.Inode != 0 && !d.Sent && !d.Benign && measure.BecauseOf(d, "SOCKET_RCVBUFF", rcvbufPlaces...)
		return measure.DropKey{Netns: measure.Namespace(r, d.Netns), Inode: d.Inode}, ok
	})
	var out []suspect.Finding
	told := map[measure.DropKey]bool{}
	for _, k := range s.Sockets {
		if k.First().Proto != "udp" {
			continue
		}
		key := measure.DropKey{Netns: measure.Namespace(r, k.First().Netns), Inode: k.First().Inode}
		told[key] = true
		if f, ok := weighUDPSocket(s, r, k, victims[key]); ok {
			out = append(out, f)
		}
	}
	for _, key := range order { // sockets that came and went between two dumps
		if rows := victims[key]; !told[key] {
			d := rows[0]
			sub := recording.Subject{Kind: recording.KindSocket, Netns: key.Netns, Proto: "udp", Local: d.Dst, Inode: d.Inode, PID: d.PID, Comm: d.Comm}
			out = append(out, udpBufferFinding(s, r, sub, udpLoss{rows: measure.DropSteps(rows)}))
		}
	}
	if len(out) == 0 {
		return udpLossWithoutSocket(r)
	}
	return out
}

// udpLoss is what is known of one socket's lost datagrams.
type udpLoss struct {
	socket *scene.Socket // nil: seen only as the victim of drops
	rows   measure.Steps // drops that named the socket
	d      measure.Steps // growth of its own counter
	span   recording.Interval
}

func weighUDPSocket(s *scene.Scene, r *recording.Recording, k *scene.Socket, rows []recording.Drop) (suspect.Finding, bool) {
	l := udpLoss{socket: k, rows: measure.DropSteps(rows), d: measure.OwnDrops(k), span: recording.Interval{Start: k.First().T, End: k.Last().T}}
	if l.d.Sum() == 0 && len(rows) == 0 {
		if k.First().Drops == 0 || len(k.Rows) < 2 {
			return suspect.Finding{}, false
		}
		return suspect.Finding{Subject: k.Subject, Evidence: []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Decisive,
			Text:  fmt.Sprintf("d stayed at %s for %d samples: the loss is older than this recording", units.Count(float64(k.Last().Drops)), len(k.Rows)),
			Value: 0, Unit: "datagrams", Source: source.SS("-uamn", source.SocketDrops)}}}, true
	}
	return udpBufferFinding(s, r, k.Subject, l), true
}

// lost is what it lost and when: as the kernel freed it, else by the socket's own count.
func (l udpLoss) lost() measure.Steps {
	if len(l.rows) > 0 {
		return l.rows
	}
	return l.d
}

func udpBufferFinding(s *scene.Scene, r *recording.Recording, sub recording.Subject, l udpLoss) suspect.Finding {
	lost := math.Max(l.rows.Sum(), l.d.Sum())
	f := suspect.Finding{Subject: sub, Evidence: udpBufferEvidence(s, r, sub, l)}
	f.Active = l.d.Active()
	if len(l.rows) > 0 {
		f.Active = l.rows.Active()
	}
	of := measure.UDPArrived(r, sub.Netns)
	if lost >= feltByItself && lost < 0.001*of {
		of = 0
	}
	f.Harm = suspect.Harm{Symptom: scene.DatagramsLost, Amount: lost, Of: of, Unit: "datagrams", Text: fmt.Sprintf("%s datagrams to %s lost", units.OfAll(lost, of), sub.Local)}
	f.Text = fmt.Sprintf("lost %s datagrams: its receive buffer was full", units.Count(lost))
	f.Remedy = suspect.Remedy{Program: fmt.Sprintf("%s: read faster, or ask for a larger buffer (SO_RCVBUF).", measure.OrProgram(sub.Comm))}
	f.Next = remedy.InNetns(s, sub.Netns, "ss -uamn 'sport = :"+recording.Port(sub.Local)+"'")
	if l.socket != nil {
		if rb := float64(l.socket.Last().RcvBuf); rb > 0 {
			f.Text = fmt.Sprintf("lost %s datagrams: its receive buffer of %s was full", units.Count(lost), units.Bytes(rb))
			f.Settings, f.Calls = bufferSettings(r, sub, rb, l.lost())
			f.Remedy = suspect.Remedy{Permanently: remedy.Kept(s, r, f.Settings), Program: fmt.Sprintf("%s: read faster, or ask for a larger buffer: SO_RCVBUF %.0f.", measure.OrProgram(sub.Comm), wantedBuffer(rb, l.lost())/2)}
		}
		if _, _, always := measure.AlwaysFull(l.socket); always {
			f.Remedy = suspect.Remedy{Program: fmt.Sprintf("%s: a faster reader. This one never catches up, and a larger buffer fills just as well.", measure.OrProgram(sub.Comm))}
			f.Settings, f.Calls = nil, nil
		}
		if stalled := readerStopped(r, l.socket, f.Active); stalled > 0 {
			f.Text += fmt.Sprintf("; its reader was stopped for %.0f s of that time", stalled.Seconds())
			f.Remedy = suspect.Remedy{Permanently: "Let its reader run: a larger buffer only delays the loss."}
			f.Settings, f.Calls = nil, nil
		}
	}
	return f
}

// feltByItself: this many datagrams lost by one socket are felt, whatever share
// they are of what all sockets of its namespace received.
const feltByItself = 100

// udpCount is the growth of a UDP counter over both address families' tables,
// and the span between its first and last sample: what happened outside of it
// (in a namespace that came or went) is not in it. False where it was not
// measured at all.
func udpCount(r *recording.Recording, netns uint64, field string) (measure.Steps, recording.Interval, bool) {
	var all measure.Steps
	var span recording.Interval
	for _, table := range []string{"Udp_", "Udp6_"} {
		s, ok := measure.Counter(r, netns, "node_netstat_"+table+field)
		if !ok {
			continue
		}
		all = append(all, measure.StepsOf(s)...)
		span = s.Span()
	}
	return all, span, span.End != 0
}
