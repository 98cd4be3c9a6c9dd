package pcap

import (
	"snag/internal/packet"
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
	unreached   uint64
	prev, next  *udpFlow
}

type udpWay struct {
	packets, bytes uint64
	rtp            rtp
}

// datagrams are the UDP flows, in the order in which they last spoke.
type datagrams struct {
	flows       map[key]*udpFlow
	first, last *udpFlow
	evicted     uint64
}

// take takes a datagram.
func (d *datagrams) take(a *analysis, at int64, p *packet.Packet) {
	a.tick(max(at, a.now))
	k, side := keyOf(p.Src, p.Dst)
	f := d.flows[k]
	if f == nil {
		if len(d.flows) >= maxDatagrams {
			d.evicted++
			d.end(a, d.first)
		}
		f = &udpFlow{key: k, client: side, first: at}
		d.flows[k] = f
		d.link(f)
	} else if d.last != f {
		d.unlink(f)
		d.link(f)
	}
	f.last = at
	w := &f.way[side]
	w.packets++
	w.bytes += uint64(p.Len)
	w.rtp.take(at, p.Payload)
}

// unreached takes an ICMP message that nobody holds a datagram's port. The flow may
// have begun before the capture.
func (d *datagrams) unreached(_ int64, k key, _ *packet.Unreached) {
	if f := d.flows[k]; f != nil {
		f.unreached++
	}
}

func (d *datagrams) close(a *analysis) {
	for d.first != nil {
		d.end(a, d.first)
	}
}

// end writes a flow's row.
func (d *datagrams) end(a *analysis, f *udpFlow) {
	d.unlink(f)
	delete(d.flows, f.key)
	if a.flows >= 2*maxFlows || a.flows >= maxFlows && f.unreached == 0 && !f.way[0].rtp.is() && !f.way[1].rtp.is() {
		a.count.LeftOut++
		return
	}
	a.flows++
	ends := [2]string{f.a.String(), f.b.String()}
	server := 1 - f.client
	row := recording.Flow{
		T: recording.Time(f.first), End: recording.Time(f.last), Netns: a.netns, Proto: "udp", Known: true,
		Client: ends[f.client], Server: ends[server], Closed: "open", Unreachable: f.unreached,
		Up: f.way[f.client].row(), Down: f.way[server].row(),
	}
	a.out.Append(row)
}

func (w *udpWay) row() recording.FlowWay {
	return recording.FlowWay{Packets: w.packets, Bytes: w.bytes, RTP: w.rtp.row()}
}

func (d *datagrams) link(f *udpFlow) {
	f.prev, f.next = d.last, nil
	if d.last != nil {
		d.last.next = f
	} else {
		d.first = f
	}
	d.last = f
}

func (d *datagrams) unlink(f *udpFlow) {
	if f.prev != nil {
		f.prev.next = f.next
	} else {
		d.first = f.next
	}
	if f.next != nil {
		f.next.prev = f.prev
	} else {
		d.last = f.prev
	}
}
