package sides

import (
	"context"
	"errors"
	"io"

	"snag/internal/packet"
	"snag/internal/pcap"
	"snag/readers/reader"
	"snag/recording"
)

// source is one capture file on its way through.
type source struct {
	in       io.Closer
	file     *pcap.Reader
	index    *index
	count    int
	frame    pcap.Frame
	packet   packet.Packet
	segment  Segment
	timeless uint64 // frames without a time
	done     bool
}

// opener opens a file anew: each is read twice.
type opener func() (io.ReadCloser, error)

func openerOf(path string) opener {
	return func() (io.ReadCloser, error) { return reader.Open(path) }
}

func begin(open opener, x *index) (*source, error) {
	in, err := open()
	if err != nil {
		return nil, err
	}
	file, err := pcap.New(in)
	if err != nil {
		_ = in.Close()
		if errors.Is(err, io.EOF) {
			err = errors.New("it is empty")
		}
		return nil, err
	}
	return &source{in: in, file: file, index: x}, nil
}

// next reads up to the next TCP segment; done is set at the file's end, and where it
// is torn: the reader of single captures tells of that.
func (s *source) next() {
	for {
		if err := s.file.Next(&s.frame); err != nil {
			s.done = true
			return
		}
		if s.frame.At == 0 {
			s.timeless++
			continue
		}
		proto, rest, head, ok := s.frame.Link.Network(s.frame.Data)
		if ok && packet.DecodeInner(proto, rest, s.frame.Wire-head, &s.packet) && (s.index.only == nil || s.index.only(&s.packet)) && segmentOf(s.frame.At, &s.packet, &s.segment) {
			return
		}
	}
}

// survey finds the connections of a file.
func survey(ctx context.Context, open opener, most int, only func(*packet.Packet) bool) (*index, error) {
	x := newIndex(most)
	x.only = only
	s, err := begin(open, x)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.in.Close() }()
	for n := 0; ; n++ {
		if n&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if s.next(); s.done {
			return x, nil
		}
		if x.first == 0 || s.segment.T < x.first {
			x.first = s.segment.T
		}
		x.last = max(x.last, s.segment.T)
		if id, dir := x.find(&s.segment, &s.count); id >= 0 {
			x.flows[id].note(&s.segment, dir)
		}
	}
}

// Join reads two captures, each from one end of the same connections, and hands the
// requests of those to out. calls are what is known of the server's system calls; nil:
// nothing.
func Join(ctx context.Context, paths [2]string, calls Calls, out recording.Sink) (Result, error) {
	return join(ctx, [2]opener{openerOf(paths[0]), openerOf(paths[1])}, paths, calls, out)
}

func join(ctx context.Context, files [2]opener, names [2]string, calls Calls, out recording.Sink) (Result, error) {
	var found [2]*Capture
	for i, open := range files {
		var err error
		if found[i], err = surveyed(ctx, open, names[i], len(files), nil); err != nil {
			return Result{}, err
		}
	}
	return Match(found[0], found[1]).Join(ctx, calls, Shift{}, out)
}

// earlier is the file whose next segment comes first; -1: both have ended.
func earlier(s [2]*source, j *joiner) int {
	switch {
	case s[0].done && s[1].done:
		return -1
	case s[0].done:
		return 1
	case s[1].done:
		return 0
	}
	return side(j.shared(0, s[0].segment.T) <= j.shared(1, s[1].segment.T))
}
