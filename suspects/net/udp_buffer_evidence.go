package net

import (
	"fmt"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// nearlyFull: a buffer this full has no room for a burst. Readers that keep up
// leave 0 to 10 % at a sample.
const nearlyFull = 0.9

func udpBufferEvidence(s *scene.Scene, r *recording.Recording, sub recording.Subject, l udpLoss) []suspect.Evidence {
	var out []suspect.Evidence
	named, own := l.rows.Sum(), l.d.Sum()
	errors, seen, measured := udpCount(r, sub.Netns, "RcvbufErrors")
	decided := false
	if named > 0 && own > 0 {
		n, same := l.rows.AgreeIn(own, l.span)
		e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: own, Unit: "datagrams", Source: source.SS("-uamn", source.SocketDrops).And(source.Drops()), Origin: "sk_drops",
			Text: fmt.Sprintf("the socket's drop counter grew by %s; drops for SOCKET_RCVBUFF named it %s times", units.Count(own), units.Count(n))}
		if same {
			e.Grade, decided = suspect.Decisive, true
			e.Text = fmt.Sprintf("the socket's drop counter grew by %s, and %s drops for SOCKET_RCVBUFF named it", units.Count(own), units.Count(n))
		}
		if !same {
			e.Doubt = measure.LossOf(r, "drops.kfree_skb", named)
		}
		out = append(out, e)
	}
	if !decided && measured {
		out = append(out, againstCounter(s, sub, l, errors, seen)...)
	}
	if decided && measured {
		out = append(out, suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: errors.Sum(), Unit: "datagrams", Source: source.SNMP("Udp", "RcvbufErrors"), Origin: "RcvbufErrors",
			Text: fmt.Sprintf("the namespace's RcvbufErrors grew by %s", units.Count(errors.Sum()))})
	}
	return append(out, fillEvidence(l.socket)...)
}

// againstCounter compares what the namespace's sockets lost with the namespace's
// counter: how kernels that do not name the victim are read.
func againstCounter(s *scene.Scene, sub recording.Subject, l udpLoss, errors measure.Steps, seen recording.Interval) []suspect.Evidence {
	counters := source.SNMP("Udp", "RcvbufErrors").And(source.SS("-uamn", source.SocketDrops))
	what, span := "drops for SOCKET_RCVBUFF named it %s times", recording.Interval{}
	lost, _ := l.rows.Between(seen)
	sockets := 1
	if l.d.Sum() > 0 {
		what, span, sockets, lost = "the socket's drop counter grew by %s", l.span, 0, 0
		for _, k := range s.Sockets {
			if k.First().Proto == "udp" && k.First().Netns == sub.Netns {
				if n := measure.OwnDrops(k).Sum(); n > 0 {
					lost, sockets = lost+n, sockets+1
				}
			}
		}
		if sockets > 1 {
			what = fmt.Sprintf("the drop counters of %d sockets, this one among them, grew by %%s", sockets)
		}
	}
	if errors.Sum() == 0 && !append(append(measure.Steps{}, l.rows...), l.d...).WellInside(seen) {
		return []suspect.Evidence{{Side: suspect.For, Grade: suspect.Strong, Value: l.rows.Sum(), Unit: "datagrams", Source: source.Drops("SOCKET_RCVBUFF"), Origin: "sk_drops",
			Text: fmt.Sprintf(what, units.Count(l.rows.Sum())) + "; the namespace's counters were not read at that time"}}
	}
	text := fmt.Sprintf(what, units.Count(lost))
	if errors.Sum() == 0 {
		return []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Decisive, Value: 0, Unit: "datagrams", Source: counters, Origin: "RcvbufErrors",
			Text: text + "; RcvbufErrors did not grow: not its buffer, but a filter, a checksum or the memory limit of all UDP dropped them"}}
	}
	n, same := errors.AgreeIn(lost, span)
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: lost, Unit: "datagrams", Source: counters, Origin: "RcvbufErrors",
		Text: fmt.Sprintf("%s; the namespace's RcvbufErrors by %s", text, units.Count(n))}
	if same {
		e.Grade = suspect.Decisive
		e.Text = fmt.Sprintf("%s, the namespace's RcvbufErrors by %s: no other socket's datagrams are in it", text, units.Count(n))
		if sockets > 1 {
			e.Text = fmt.Sprintf("%s, the namespace's RcvbufErrors by %s", text, units.Count(n))
		}
	}
	return []suspect.Evidence{e}
}

func fillEvidence(k *scene.Socket) []suspect.Evidence {
	if k == nil {
		return nil
	}
	full, seen, most := 0, 0, 0
	for _, row := range k.Rows {
		if row.RcvBuf == 0 {
			continue
		}
		seen++
		most = max(most, row.Rmem)
		if float64(row.Rmem) >= nearlyFull*float64(row.RcvBuf) {
			full++
		}
	}
	rb := float64(k.Last().RcvBuf)
	e := suspect.Evidence{Side: suspect.For, Value: float64(most), Unit: "bytes", Source: source.SS("-uamn skmem", source.ReceiveMemory, source.Word("rb")).With(source.SocketDrops), Origin: "sk_rmem_alloc"}
	switch {
	case seen == 0:
		return nil
	case full > 0:
		e.Grade = suspect.Strong
		e.Text = fmt.Sprintf("the buffer held %s of %s, nearly full in %d of %d samples", units.Bytes(float64(most)), units.Bytes(rb), full, seen)
	case most == 0:
		e.Side = suspect.Against
		e.Text = fmt.Sprintf("the buffer was empty at all %d samples: it fills in less than a second, by a burst or a reader that stalls", seen)
	default:
		e.Side = suspect.Against
		e.Text = fmt.Sprintf("the buffer held at most %s of %s in %d samples", units.Bytes(float64(most)), units.Bytes(rb), seen)
	}
	return []suspect.Evidence{e}
}

// heldByDatagram is what one of 1,000 to 1,500 bytes takes of a receive buffer: its
// page or slab and struct sk_buff (truesize); 208 KiB hold 92 of them.
const heldByDatagram = 2304

// largestBuffer that is proposed, bytes.
const largestBuffer = 64 << 20

// wantedBuffer holds, besides what rb bytes hold, what the worst stall lost, which is
// its length × the rate: 4 MiB at least, a second of a 30 Mb/s stream.
func wantedBuffer(rb float64, lost measure.Steps) float64 {
	return min(largestBuffer, max(4<<20, powerOfTwo(rb+headroom*heldByDatagram*lost.WorstRun())))
}

// readerStopped is how long the socket's owner was seen in state T while the
// cause acted.
func readerStopped(r *recording.Recording, k *scene.Socket, active []recording.Interval) time.Duration {
	var stopped []recording.Interval
	for _, e := range r.Events {
		if e.Kind != recording.EventStopped {
			continue
		}
		for _, p := range k.Owners {
			if p.Subject.PID == e.Subject.PID {
				stopped = append(stopped, e.Interval())
			}
		}
	}
	return intervals.Overlap(intervals.Merge(stopped, 0), active, r.Manifest.End)
}

// udpLossWithoutSocket is what is left to say when the counter grew and nothing
// told whose datagrams they were.
func udpLossWithoutSocket(r *recording.Recording) []suspect.Finding {
	var out []suspect.Finding
	for _, s := range r.Select("node_netstat_Udp_RcvbufErrors") {
		netns := measure.NetnsOf(r, s)
		lost, ok := s.Increase()
		if !ok || lost == 0 {
			continue
		}
		out = append(out, suspect.Finding{
			Subject: recording.Subject{Kind: recording.KindNetns, Netns: netns},
			Evidence: []suspect.Evidence{{Side: suspect.For, Grade: suspect.Strong, Value: lost, Unit: "datagrams", Source: source.SNMP("Udp", "RcvbufErrors"),
				Text: fmt.Sprintf("RcvbufErrors grew by %s; nothing showed which socket lost them", units.Count(lost))}},
			Active: measure.StepsOf(s).Active(),
			Harm:   suspect.Harm{Symptom: scene.DatagramsLost, Amount: lost, Unit: "datagrams", Text: units.Count(lost) + " datagrams lost"},
			Text:   fmt.Sprintf("%s datagrams were lost to a full receive buffer, of a socket that was not seen", units.Count(lost)),
		})
	}
	return out
}

// bufferSettings is the same as data. A socket that is open keeps its size: the
// program has to ask again.
func bufferSettings(r *recording.Recording, sub recording.Subject, rb float64, lost measure.Steps) (set []suspect.Setting, calls []suspect.Call) {
	want := wantedBuffer(rb, lost)
	ask := fmt.Sprintf("%.0f", want/2) // the kernel doubles it (net/core/sock.c)
	why := fmt.Sprintf("the receive buffer of %s, %s, was full, and its worst stall lost %s datagrams, of about %s each in the buffer", sub.Local, units.Bytes(rb), units.Count(lost.WorstRun()), units.Bytes(heldByDatagram))
	call := suspect.Call{Who: suspect.WhoseCall(sub), Do: "setsockopt(fd, SOL_SOCKET, SO_RCVBUF, " + ask + ")", Why: why}
	most, ok := measure.Sysctl(r, sub.Netns, "net.core.rmem_max")
	switch begins, known := measure.Sysctl(r, sub.Netns, "net.core.rmem_default"); {
	case known && rb == begins && rb < want && !(ok && rb == 2*most):
		// It never asked for a size (sock_init_data of net/core/sock.c): more that it may ask
		// for changes nothing.
		set = append(set, suspect.Setting{Kind: "sysctl", Name: "net.core.rmem_default", AtLeast: true, Value: fmt.Sprintf("%.0f", want),
			Why:  why + "; it has the size that each socket begins with: the program never sets SO_RCVBUF, and a larger net.core.rmem_max would not help",
			Risk: "every socket that any program opens from then on, but TCP's, may hold that much memory (net.ipv4.udp_mem bounds those of UDP in all)", Needs: "a restart of " + sub.Comm + ": an open socket keeps its size"})
		if ok && most < want/2 {
			call.Do = fmt.Sprintf("setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, %s), or SO_RCVBUF with net.core.rmem_max = %s", ask, ask)
		}
		call.Why += "; the call is for this socket alone, where net.core.rmem_default is for all"
	case ok && most*2 < want:
		set = append(set, suspect.Setting{Kind: "sysctl", Name: "net.core.rmem_max", AtLeast: true, Value: ask, Why: why,
			Risk: "sockets that ask for it may hold that much memory", Needs: "a restart of " + sub.Comm + ": an open socket keeps its size"})
	}
	return set, []suspect.Call{call}
}
