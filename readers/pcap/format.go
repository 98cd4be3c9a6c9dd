package pcap

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"snag/internal/packet"
	capture "snag/internal/pcap"
	"snag/internal/pcapfilter"
	"snag/readers/reader"
	"snag/recording"
)

// Format is what snag read needs of it.
var Format = reader.Format{
	Name:  "pcap",
	About: "captures (pcap, pcapng), the files of a ring as one",
	Sniff: capture.Sniff,
	Read:  read,
	SetOf: Ring,
	ReadSet: func(ctx context.Context, in []*reader.Input, o []reader.Options, out recording.Sink) (reader.Told, error) {
		return readRing(ctx, in, o[0], out)
	},
}

// Netns is the number under which a capture's rows stand in a recording, where those
// of a live host have their namespace's inode: two captures may be of two hosts.
func Netns(path string) uint64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(filepath.Clean(path)))
	return 1<<33 | uint64(h.Sum32()) // no inode of nsfs is that large
}

func read(ctx context.Context, in *reader.Input, o reader.Options, out recording.Sink) (reader.Told, error) {
	return readRing(ctx, []*reader.Input{in}, o, out)
}

// readRing reads the files of a ring as one capture, in the order of their first packets.
func readRing(ctx context.Context, ins []*reader.Input, o reader.Options, out recording.Sink) (reader.Told, error) {
	slices.SortStableFunc(ins, func(x, y *reader.Input) int { return cmp.Compare(firstPacket(x.Head()), firstPacket(y.Head())) })
	name := ins[0].Path
	if len(ins) > 1 {
		name = Ring(name)
	}
	a := newAnalysis(out, Netns(name))
	a.from, a.to = int64(o.From), int64(o.To)
	if o.Only != "" {
		only, err := pcapfilter.Parse(o.Only)
		if err != nil {
			return reader.Told{}, err
		}
		a.only = only
	}
	a.media = newMedia(out, a.netns)
	var torn []string
	var failed error
	err := a.media.run(ctx, func() error {
		for _, in := range ins {
			why, err := a.file(ctx, in)
			if why != "" && len(ins) > 1 {
				why = filepath.Base(in.Path) + ": " + why
			}
			if why != "" {
				torn = append(torn, why)
			}
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case failed == nil:
				failed = err
			default:
				failed = errors.Join(failed, err)
			}
		}
		return nil
	})
	a.drain()
	a.close()
	if err == nil {
		err = failed
	}
	if a.count.Packets == 0 && len(torn) == 0 {
		if err == nil {
			err = fmt.Errorf("read %s: it has no packet: nothing was captured", name)
		}
		return reader.Told{}, err
	}
	if a.begin == 0 && (a.from != 0 || a.to != 0) {
		torn = append(torn, fmt.Sprintf("none of its %d packets lies within --from and --to", a.count.Packets))
	}
	out.Append(recording.Netns{T: recording.Time(a.begin), ID: a.netns, Name: "captured in " + filepath.Base(name), Own: true})
	told := reader.Told{First: recording.Time(a.begin), Last: recording.Time(a.last), Lines: a.count.Packets, Doubts: torn}
	told.Coverage = append(a.coverage(strings.Join(torn, "; ")), a.media.coverage(told.First)...)
	return told, err
}

// file reads one file; why it is not read to its end, where its bytes are at fault.
func (a *analysis) file(ctx context.Context, in *reader.Input) (why string, err error) {
	r, err := capture.New(in)
	if errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read %s: it is empty", in.Path)
	}
	if err != nil {
		return "", fmt.Errorf("read %s: %w", in.Path, err)
	}
	err = a.frames(ctx, r)
	n, _ := r.Dropped()
	a.dropped += n
	a.interfaces = append(a.interfaces, r.Interfaces()...)
	var torn *capture.TornError
	switch {
	case errors.As(err, &torn) && torn.Source && in.Packed != "":
		return "", &reader.Torn{Path: in.Path, Packed: in.Packed, Offset: torn.Offset, Err: torn.Err}
	case errors.As(err, &torn):
		return fmt.Sprintf("the file is torn at byte %d, after %d packets: %v; what comes before is read", torn.Offset, torn.Frames, torn.Err), nil
	}
	return "", err
}

// firstPacket is when a file's first packet was captured, ns since 1970; 0: its beginning has none.
func firstPacket(head []byte) int64 {
	r, err := capture.New(bytes.NewReader(head))
	if err != nil {
		return 0
	}
	var f capture.Frame
	if r.Next(&f) != nil {
		return 0
	}
	return f.At
}

// Names of the files of a ring: tcpdump -C and -W number them behind the name, dumpcap and
// Wireshark (-b) before its end, with the time.
var (
	numbered = regexp.MustCompile(`^(.+\.p?cap(?:ng)?)\d+$`)
	dated    = regexp.MustCompile(`^(.+)_\d{5}_\d{14}(\.p?cap(?:ng)?)$`)
)

// Ring is the name of the ring that a file is of by its own name; "": of none.
func Ring(path string) string {
	if m := numbered.FindStringSubmatch(path); m != nil {
		return m[1]
	}
	if m := dated.FindStringSubmatch(path); m != nil {
		return m[1] + m[2]
	}
	return ""
}

// frames reads all frames of a file.
func (a *analysis) frames(ctx context.Context, r *capture.Reader) error {
	var f capture.Frame
	var ip packet.IP
	var p packet.Packet
	var u packet.Unreached
	for n := uint(0); ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := r.Next(&f); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		a.count.Packets++
		if f.At == 0 { // a simple packet block: as soon as the one before it
			a.count.Timeless++
			f.At = max(a.last, 1)
		}
		if a.from != 0 && f.At < a.from || a.to != 0 && f.At > a.to {
			continue
		}
		if f.Wire > len(f.Data) {
			a.count.Clipped++
		}
		proto, rest, head, ok := f.Link.Network(f.Data)
		if !ok {
			a.count.Unread++
			continue
		}
		if !ip.Decode(proto, rest, max(f.Wire-head, len(rest))) {
			a.count.Other++
			continue
		}
		ip.Unwrap()
		if a.only != nil && !a.only(filtered(&ip)) {
			continue
		}
		if ip.Proto == packet.ICMP || ip.Proto == packet.ICMPv6 {
			if packet.ReadUnreached(&ip, &u) {
				a.unreached(f.At, &u)
			}
			a.count.Other++
			continue
		}
		if !packet.Transport(&ip, &p) {
			a.count.Other++
			continue
		}
		if a.media != nil {
			a.media.take(f.At, ip.Network(), ip.Packet, ip.Size, &p)
		}
		if p.Proto == packet.UDP {
			a.count.UDP++
			a.datagrams.take(a, f.At, &p)
			continue
		}
		a.count.TCP++
		a.sip.take(f.At, &p)
		if p.Cut {
			a.count.CutOptions++
		}
		a.put(&f, &p)
	}
}

// filtered is what a filter sees of a packet.
func filtered(ip *packet.IP) *pcapfilter.Packet {
	p := &pcapfilter.Packet{Src: ip.Src, Dst: ip.Dst, Proto: ip.Proto, Len: ip.Size}
	var whole packet.Packet
	if packet.Transport(ip, &whole) {
		p.SrcPort, p.DstPort = whole.Src.Port(), whole.Dst.Port()
	}
	return p
}

// put queues a segment by its time.
func (a *analysis) put(f *capture.Frame, p *packet.Packet) {
	if a.order.full() {
		a.take(a.order.take())
	}
	s := a.order.put()
	s.at, s.src, s.dst, s.seq, s.ack, s.len, s.size = f.At, p.Src, p.Dst, p.Seq, p.Ack, p.Len, p.Size
	s.iface = 0
	if i := f.Link.Index(f.Data); i != 0 || f.Link.Way(f.Data) != packet.Unknown {
		s.iface = i<<2 | uint32(f.Link.Way(f.Data))
	}
	s.window, s.id, s.flags, s.ttl, s.proto, s.df = p.Window, p.ID, p.Flags, p.TTL, p.Proto, p.DF
	packet.ReadOptions(p.Options, &s.opt)
	s.opens = unknownOpener
	if p.Len > 0 {
		s.opens = openerOf(p)
	}
	a.order.settle()
}

func (a *analysis) drain() {
	for s := a.order.take(); s != nil; s = a.order.take() {
		a.take(s)
	}
}
