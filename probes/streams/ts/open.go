package ts

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"

	"snag/probes/streams/stream"
)

// defaultTimeout is stream.Options' own.
const defaultTimeout = 5 * time.Second

// A batch is read at once: at 10 Mbit/s and 20 ms between reads, 19 datagrams of
// seven packets come. Datagrams beyond usual ones get fewer, larger buffers.
const (
	batchSize = 24
	usualSize = 1600
	largeSize = 1 << 16
	largeRead = 4
)

// idle is how long nothing of a picture must come, whose end nobody told, for it
// to be taken as whole.
const idle = 500 * time.Millisecond

// Open reads a transport stream that is sent to udp://[source@]address-or-group:port,
// bare or in RTP. It waits for datagrams without end: silence is a figure, not an
// error, once there was something.
func Open(ctx context.Context, u *url.URL, sink stream.Sink, o stream.Options) error {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	a, err := parseURL(ctx, u)
	if err != nil {
		return err
	}
	s, err := listen(ctx, a, o.Netns)
	if err != nil {
		return err
	}
	defer s.conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = s.conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	r := &receiver{address: a, options: o, sink: sink, demux: New(sink), began: o.Now()}
	r.demux.Live, r.demux.Program, r.demux.Keys, r.demux.Sounds = true, a.program, o.Keys, o.Sounds
	r.grow(batchSize, usualSize)
	return r.run(ctx, s)
}

// receiver is one open stream.
type receiver struct {
	address  address
	options  stream.Options
	sink     stream.Sink
	demux    *Demuxer
	rtp      unwrapper
	messages []ipv4.Message
	large    bool
	began    int64 // when it was opened,
	first    int64 // when the first datagram came, by options.Now; 0: none yet
	dropped  uint32
	let      bool // Published was told
	local    string
}

func (r *receiver) grow(n, size int) {
	r.messages = make([]ipv4.Message, n)
	for i := range r.messages {
		r.messages[i] = ipv4.Message{Buffers: [][]byte{make([]byte, size)}, OOB: make([]byte, controlSize)}
	}
}

func (r *receiver) run(ctx context.Context, s *socket) error {
	r.local = s.conn.LocalAddr().String()
	for ctx.Err() == nil {
		_ = s.conn.SetReadDeadline(time.Now().Add(idle))
		if ctx.Err() != nil { // it may have ended before the deadline was moved on
			break
		}
		n, err := s.batch.ReadBatch(r.messages, 0)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			n = 0
		case err != nil:
			return fmt.Errorf("read %s: receive: %w", r.address.shown, err)
		default:
			r.take(r.messages[:n])
		}
		r.demux.Idle(r.options.Now(), int64(idle))
		if err := r.check(); err != nil {
			return err
		}
		if r.options.Every > 0 && n < len(r.messages) {
			pause(ctx, r.options.Every)
		}
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// longestWait bounds what a datagram's stamp is believed to say of its wait in the
// socket, ns; more is a wall clock that was set meanwhile.
const longestWait = 10e9

// take feeds a batch. Arrival is the kernel's, moved from the wall clock to ours.
func (r *receiver) take(batch []ipv4.Message) {
	now, wall := r.options.Now(), time.Now().UnixNano()
	for i := range batch {
		m := &batch[i]
		if r.address.source.IsValid() && sender(m.Addr) != r.address.source {
			continue
		}
		c := readControl(m.OOB[:m.NN])
		at := now
		if wait := wall - c.stamp; c.stamp > 0 && wait > 0 && wait < longestWait {
			at = now - wait
		}
		if c.counted && c.dropped != r.dropped {
			r.sink.Count(stream.ReceiverDropped, uint64(c.dropped-r.dropped))
			r.dropped = c.dropped
			r.demux.Excuse()
		}
		if m.Flags&unix.MSG_TRUNC != 0 {
			r.large = true
			r.demux.Excuse()
		}
		if r.first == 0 {
			r.first = now
		}
		if body := r.rtp.payload(m.Buffers[0][:m.N], r.sink); body != nil {
			r.demux.Datagram(body, at)
		}
		if !r.let && r.demux.Tracks() {
			r.let = true
			r.sink.Published(at, r.local, fmt.Sprint(m.Addr))
		}
	}
	if r.large && len(r.messages) != largeRead {
		r.grow(largeRead, largeSize)
	}
}

func sender(a net.Addr) netip.Addr {
	if u, ok := a.(*net.UDPAddr); ok {
		return u.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}

// check says why there is nothing to read, once it is time to.
func (r *receiver) check() error {
	now, timeout := r.options.Now(), int64(r.options.Timeout)
	name := "read " + r.address.shown + ": "
	switch {
	case r.first == 0 && now-r.began > timeout:
		why := "is it sent to this host, and does no firewall drop it?"
		if r.address.at.Addr().IsMulticast() {
			why = "is the group sent to, does the switch pass it on (IGMP), does a firewall or rp_filter drop it; is ?interface= the right one?"
		}
		return fmt.Errorf("%snothing came in %v: %s", name, r.options.Timeout, why)
	case r.first == 0 || now-r.first < timeout:
		return nil
	case !r.demux.Synced():
		return fmt.Errorf("%swhat comes is not MPEG-TS: no packets of 188, 192 or 204 bytes in it", name)
	case !r.let && r.address.program != 0 && r.demux.number == 0:
		return fmt.Errorf("%sits PAT has no program %d: leave ?program= out, or name one that is there", name, r.address.program)
	case !r.let:
		return fmt.Errorf("%sMPEG-TS comes, but no PAT and PMT of a program with a codec that is read", name)
	case !r.demux.given && r.demux.Scrambled > 0:
		return &stream.Refused{URL: r.address.shown, Why: "its packets are scrambled (transport_scrambling_control)"}
	}
	return nil
}
