package pcap

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"path/filepath"

	"snag/internal/packet"
	capture "snag/internal/pcap"
	"snag/readers/reader"
	"snag/recording"
)

// Format is what snag read needs of it.
var Format = reader.Format{
	Name:  "pcap",
	About: "captures (pcap, pcapng)",
	Sniff: capture.Sniff,
	Read:  read,
}

// Netns is the number under which a capture's rows stand in a recording, where those
// of a live host have their namespace's inode: two captures may be of two hosts.
func Netns(path string) uint64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(filepath.Clean(path)))
	return 1<<33 | uint64(h.Sum32()) // no inode of nsfs is that large
}

func read(ctx context.Context, in *reader.Input, _ reader.Options, out recording.Sink) (reader.Told, error) {
	a := newAnalysis(out, Netns(in.Path))
	r, err := capture.New(in)
	if err != nil {
		if errors.Is(err, io.EOF) {
			return reader.Told{}, fmt.Errorf("read %s: it is empty", in.Path)
		}
		return reader.Told{}, fmt.Errorf("read %s: %w", in.Path, err)
	}
	a.media = newMedia(out, a.netns)
	err = a.media.run(ctx, func() error { return a.frames(ctx, r) })
	a.drain()
	a.close()
	if a.begin == 0 && err == nil && a.count.Packets == 0 {
		return reader.Told{}, fmt.Errorf("read %s: it has no packet: nothing was captured", in.Path)
	}
	out.Append(recording.Netns{T: recording.Time(a.begin), ID: a.netns, Name: "captured in " + filepath.Base(in.Path), Own: true})
	told := reader.Told{First: recording.Time(a.begin), Last: recording.Time(a.last), Lines: a.count.Packets}
	var torn *capture.TornError
	why := ""
	switch {
	case errors.As(err, &torn) && torn.Source && in.Packed != "":
		why, err = "", &reader.Torn{Path: in.Path, Packed: in.Packed, Offset: torn.Offset, Err: torn.Err}
	case errors.As(err, &torn):
		why, err = fmt.Sprintf("the file is torn at byte %d, after %d packets: %v; what comes before is read", torn.Offset, torn.Frames, torn.Err), nil
	}
	if why != "" {
		told.Doubts = append(told.Doubts, why)
	}
	told.Coverage = append(a.coverage(r, why), a.media.coverage(told.First)...)
	return told, err
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
			a.media.take(f.At, proto, rest, max(f.Wire-head, len(rest)), &p)
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
	a.order.settle()
}

func (a *analysis) drain() {
	for s := a.order.take(); s != nil; s = a.order.take() {
		a.take(s)
	}
}
