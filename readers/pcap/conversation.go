package pcap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"path/filepath"
	"time"

	"snag/internal/conversation"
	"snag/internal/packet"
	capture "snag/internal/pcap"
	"snag/readers/reader"
)

// Conversation reads a capture for what went over one of its TCP connections, by the number that Wireshark
// gives it (tcp.stream): in the order of their first packets, from 0.
func Conversation(ctx context.Context, path string, stream int) (c conversation.Conversation, err error) {
	in, err := reader.Open(path)
	if err != nil {
		return c, err
	}
	defer in.Close()
	r, err := capture.New(in)
	if err != nil {
		return c, fmt.Errorf("read %s: %w", path, err)
	}
	k := newFollower(stream)
	var f capture.Frame
	var p packet.Packet
	for n := 1; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return c, ctx.Err()
		}
		if err := r.Next(&f); err != nil {
			var torn *capture.TornError
			if !errors.Is(err, io.EOF) && !errors.As(err, &torn) {
				return c, fmt.Errorf("read %s: %w", path, err)
			}
			break
		}
		proto, rest, head, ok := f.Link.Network(f.Data)
		if ok && packet.DecodeInner(proto, rest, f.Wire-head, &p) && p.Proto == packet.TCP {
			k.take(&p, f.At, n)
		}
	}
	return k.result(filepath.Base(path))
}

// ends are those of a connection, the lower one first.
type ends struct{ a, b netip.AddrPort }

func endsOf(p *packet.Packet) ends {
	if p.Src.Compare(p.Dst) < 0 {
		return ends{p.Src, p.Dst}
	}
	return ends{p.Dst, p.Src}
}

// tcpStream is a connection with its number.
type tcpStream struct {
	number int
	syn    uint32 // of the SYN that began it
	begun  bool   // by a SYN
}

// follower follows one connection of a capture.
type follower struct {
	want    int
	streams map[ends]tcpStream
	n       int // connections so far

	c           conversation.Conversation
	client      netip.AddrPort
	server      netip.AddrPort
	known       bool // who is the client
	next        map[netip.AddrPort]uint32
	begun       int64
	first, last int
	full        bool
	missing     int64 // bytes that were not captured
	acked       int64 // when the server acknowledged all that the client had sent
	held        int   // writes that Nagle's algorithm held back, as it looks
}

func newFollower(want int) *follower {
	return &follower{want: want, streams: map[ends]tcpStream{}, next: map[netip.AddrPort]uint32{}, c: conversation.Conversation{Timed: true}}
}

// number is which connection a packet is of. A SYN with another number than the last begins one anew.
func (k *follower) number(p *packet.Packet) int {
	e := endsOf(p)
	s, known := k.streams[e]
	syn := p.Flags&(packet.SYN|packet.ACK) == packet.SYN
	if !known || syn && s.begun && s.syn != p.Seq {
		s = tcpStream{number: k.n}
		k.n++
	}
	if syn {
		s.syn, s.begun = p.Seq, true
	}
	k.streams[e] = s
	return s.number
}

const (
	mostEvents = 400_000
	ephemeral  = 32768 // net.ipv4.ip_local_port_range begins here
)

func (k *follower) take(p *packet.Packet, at int64, frame int) {
	if k.number(p) != k.want {
		return
	}
	if k.first == 0 {
		k.first, k.begun = frame, at
	}
	k.last = frame
	k.sides(p)
	if at == 0 {
		k.c.Timed = false
	}
	from, length := p.Seq, p.Len
	if p.Flags&packet.SYN != 0 {
		from++
	}
	if p.Src == k.server && p.Flags&packet.ACK != 0 && p.Ack == k.next[k.client] {
		k.acked = at
	}
	next, seen := k.next[p.Src]
	if length > 0 {
		if !seen {
			next = from
		}
		ahead := int32(from - next)
		if ahead < 0 { // it was sent again, at least in part
			length += int(ahead)
		} else {
			k.missing += int64(ahead)
		}
		if length > 0 {
			k.add(p, at, length)
			next = p.Seq + uint32(p.Len)
		}
		k.next[p.Src] = next
	} else if !seen && p.Flags&packet.SYN != 0 {
		k.next[p.Src] = from
	}
}

// sides reports who is the client: who sent the SYN, else whose port is ephemeral, else who sends first.
func (k *follower) sides(p *packet.Packet) {
	if k.known {
		return
	}
	client, server := p.Src, p.Dst
	if p.Flags&packet.SYN != 0 {
		if p.Flags&packet.ACK != 0 {
			client, server = server, client
		}
		k.known = true
	} else if p.Src.Port() < ephemeral && p.Dst.Port() >= ephemeral {
		client, server = server, client
	}
	if k.client.IsValid() && !k.known {
		return
	}
	k.client, k.server = client, server
}

func (k *follower) add(p *packet.Packet, at int64, bytes int) {
	if len(k.c.Events) >= mostEvents {
		k.full = true
		return
	}
	t := time.Duration(at - k.begun)
	held := p.Src == k.client && k.isHeld(at)
	if held {
		k.held++
	}
	k.c.Events = append(k.c.Events, conversation.Event{Begin: t, End: t, Out: p.Src == k.client, Bytes: bytes, Joins: p.Flags&packet.PSH == 0, Held: held})
}

func (k *follower) result(file string) (conversation.Conversation, error) {
	c := k.c
	switch {
	case k.n == 0:
		return c, fmt.Errorf("read %s: it has no TCP connection", file)
	case k.first == 0:
		return c, fmt.Errorf("read %s: it has no TCP connection %d: they are 0 to %d (tcp.stream of Wireshark)", file, k.want, k.n-1)
	case len(c.Messages()) == 0:
		return c, fmt.Errorf("read %s: the client of TCP connection %d, %s, sent nothing", file, k.want, k.client)
	}
	c.From = fmt.Sprintf("%s, TCP connection %d, %s to %s, packets %d to %d", file, k.want, k.client, k.server, k.first, k.last)
	c.Lacks = []string{"writes: a segment with the flag PSH is taken for the end of one"}
	k.nagle(&c)
	if k.missing > 0 {
		c.Lacks = append(c.Lacks, fmt.Sprintf("%d bytes that were not captured, or not in order", k.missing))
	}
	if !c.Timed {
		c.Lacks = append(c.Lacks, "times of some packets")
	}
	if k.full {
		c.Lacks = append(c.Lacks, fmt.Sprintf("what follows the first %d segments", mostEvents))
	}
	return c, nil
}
