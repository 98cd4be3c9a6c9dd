package pcap

import (
	"net/netip"

	"snag/internal/packet"
	"snag/internal/recency"
	"snag/recording"
)

// maxDatagrams bounds the UDP flows that are followed at a time.
const maxDatagrams = 4096

// udpFlow is what goes between two UDP ends.
type udpFlow struct {
	key
	client      int // who sent first
	first, last int64
	way         [2]udpWay
	call        *call // whose media it carries; nil: none that is known
	links       recency.Links[udpFlow]
}

// Recency are its links among the flows.
func (f *udpFlow) Recency() *recency.Links[udpFlow] { return &f.links }

type udpWay struct {
	packets, bytes uint64
	last           int64
	unreached      uint64 // ICMP messages that nobody holds the port
	since          int64  // the first of them
	sent           uint64 // datagrams before it
	after          uint64 // datagrams after the call's BYE
	rtp            rtp
}

// datagrams are the UDP flows, in the order in which they last spoke.
type datagrams struct {
	flows   map[key]*udpFlow
	order   recency.List[udpFlow, *udpFlow]
	evicted uint64
	calls   calls
}

func newDatagrams() datagrams {
	return datagrams{flows: map[key]*udpFlow{}, calls: calls{byID: map[string]*call{}, media: map[netip.AddrPort]*call{}}}
}

// take takes a datagram.
func (d *datagrams) take(a *analysis, at int64, p *packet.Packet) {
	a.tick(max(at, a.now))
	k, side := keyOf(p.Src, p.Dst)
	f := d.flows[k]
	if f == nil {
		if len(d.flows) >= maxDatagrams {
			d.evicted++
			d.end(a, d.order.Oldest())
		}
		f = &udpFlow{key: k, client: side, first: at}
		if len(d.calls.media) > 0 {
			if f.call = d.calls.media[k.a]; f.call == nil {
				f.call = d.calls.media[k.b]
			}
		}
		d.flows[k] = f
		d.order.Add(f)
	} else {
		d.order.Use(f)
	}
	at = max(at, f.last) // a little out of the file's order
	f.last = at
	w := &f.way[side]
	w.packets++
	w.bytes += uint64(p.Len)
	w.last = at
	if sipStart(p.Payload) {
		d.calls.take(d, at, p.Src, p.Dst, p.Payload)
		return
	}
	w.rtp.take(at, p.Payload)
	if c := f.call; c != nil {
		w.rtp.told(c.clocks)
		if c.bye != 0 && at-c.bye > afterGoodbye && w.rtp.is() {
			w.after++
			c.after++
			c.afterFor = max(c.afterFor, at-c.bye)
		}
	}
}

// greeted ties the flows of an address to the call that uses it from now on.
func (d *datagrams) greeted(to netip.AddrPort, c *call) {
	for f := d.order.Newest(); f != nil; f = d.order.Older(f) {
		if f.a == to || f.b == to {
			f.call = c
		}
	}
}

// goodbye ties what goes to a call's addresses to it, if nothing did before.
func (d *datagrams) goodbye(c *call) {
	for _, to := range c.media {
		if d.calls.media[to] == c {
			d.greeted(to, c)
		}
	}
}

// unreached takes an ICMP message that nobody holds the port to which an end sent. The
// flow may have begun before the capture.
func (d *datagrams) unreached(at int64, k key, side int) {
	f := d.flows[k]
	if f == nil {
		return
	}
	w := &f.way[side]
	if w.unreached++; w.unreached == 1 {
		w.since, w.sent = at, w.packets
	}
}

func (d *datagrams) close(a *analysis) {
	for f := d.order.Oldest(); f != nil; f = d.order.Oldest() {
		d.end(a, f)
	}
	d.calls.close(a)
}

// end writes a flow's row.
func (d *datagrams) end(a *analysis, f *udpFlow) {
	d.order.Remove(f)
	delete(d.flows, f.key)
	if a.flows >= 2*maxFlows || a.flows >= maxFlows && f.way[0].unreached+f.way[1].unreached == 0 && !f.way[0].rtp.is() && !f.way[1].rtp.is() {
		a.count.LeftOut++
		return
	}
	a.flows++
	ends := [2]string{f.a.String(), f.b.String()}
	server := 1 - f.client
	row := recording.Flow{
		T: recording.Time(f.first), End: recording.Time(f.last), Netns: a.netns, Proto: "udp", Known: true,
		Client: ends[f.client], Server: ends[server], Closed: "open",
		Up: f.way[f.client].row(), Down: f.way[server].row(),
	}
	if f.call != nil {
		row.Call = f.call.id
	}
	a.out.Append(row)
}

func (w *udpWay) row() recording.FlowWay {
	row := recording.FlowWay{Packets: w.packets, Bytes: w.bytes, Last: recording.Time(w.last), RTP: w.rtp.row(), AfterBye: w.after}
	if w.unreached > 0 {
		row.Unreachable, row.UnreachableSince, row.SentSince = w.unreached, recording.Time(w.since), w.packets-w.sent
	}
	return row
}
