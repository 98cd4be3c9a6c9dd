package rtp

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"snag/probes/streams/wire"
)

// Errors that end a Receive; the caller says whose stream it was.
var (
	ErrSilent  = errors.New("no RTP packet came")
	ErrGoodbye = errors.New("the sender said goodbye (RTCP BYE)")
)

// Ends are the sockets of one track over UDP.
type Ends struct {
	RTP, RTCP *wire.UDP
	From      netip.Addr     // packets of others are not taken; the zero Addr: anybody's are
	To        netip.AddrPort // where reports go; the zero AddrPort: where the sender's come from
}

// Close closes both sockets.
func (e Ends) Close() {
	_ = e.RTP.Close()
	_ = e.RTCP.Close()
}

// Receiving is how to receive over UDP.
type Receiving struct {
	Timeout time.Duration                   // the first packet must come by then
	Every   time.Duration                   // see stream.Options
	Now     func() int64                    // monotonic, ns
	First   func(at int64, from, to string) // before the first packet is taken; nil: nobody asks
}

// reportEvery is RFC 3550 6.2's least interval between reports.
const reportEvery = 5 * time.Second

// tick is how long a hole is not looked at at the most.
const tick = 50 * time.Millisecond

// maxDatagram is a jumbo frame's, bytes; what is longer is cut, and only its size is
// wrong then.
const maxDatagram = 9216

// Receive takes what comes over UDP, track by track, until ctx ends (nil), no first
// packet comes (ErrSilent), or the senders say goodbye (ErrGoodbye). Sockets are the
// caller's to close, after it.
func (s *Session) Receive(ctx context.Context, ends []Ends, r Receiving) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	var first sync.Once
	came := make(chan struct{})
	own := rand.Uint32()
	for i, e := range ends {
		all.Go(func() {
			s.receiveRTP(ctx, i, e, r, func(at int64, from netip.AddrPort) {
				first.Do(func() {
					if r.First != nil {
						r.First(at, from.String(), e.RTP.LocalAddr().String())
					}
					close(came)
				})
			})
		})
		all.Go(func() {
			if s.receiveRTCP(ctx, i, e, r.Now, own) {
				sleep(ctx, Wait) // for what was sent before it on the other socket
				cancel(ErrGoodbye)
			}
		})
	}
	timeout := time.NewTimer(r.Timeout)
	defer timeout.Stop()
	select {
	case <-came:
		<-ctx.Done()
	case <-ctx.Done():
	case <-timeout.C:
		cancel(ErrSilent)
	}
	all.Wait()
	s.End()
	if err := context.Cause(ctx); errors.Is(err, ErrSilent) || errors.Is(err, ErrGoodbye) {
		return err
	}
	return nil
}

func (s *Session) receiveRTP(ctx context.Context, i int, e Ends, r Receiving, first func(int64, netip.AddrPort)) {
	buf := make([]byte, maxDatagram)
	wait := tick
	if r.Every > 0 {
		wait = 2 * time.Millisecond // what has come meanwhile, no more
	}
	begun := false
	for ctx.Err() == nil {
		_ = e.RTP.SetReadDeadline(time.Now().Add(wait))
		for {
			n, from, at, err := e.RTP.Receive(buf)
			if err != nil {
				if !passing(err) {
					return
				}
				break
			}
			if !e.takes(from) || n < 12 || buf[0]>>6 != 2 {
				continue
			}
			if !begun {
				begun = true
				first(at, from)
			}
			s.RTP(i, at, buf[:n])
		}
		s.Tick(r.Now())
		if r.Every > 0 {
			sleep(ctx, r.Every)
		}
	}
}

// receiveRTCP returns true when every sender has said goodbye.
func (s *Session) receiveRTCP(ctx context.Context, i int, e Ends, now func() int64, own uint32) bool {
	buf := make([]byte, 2048)
	to := e.To
	next := time.Now().Add(reportEvery)
	for ctx.Err() == nil {
		_ = e.RTCP.SetReadDeadline(time.Now().Add(500 * time.Millisecond))
		n, from, at, err := e.RTCP.Receive(buf)
		if err == nil && e.takes(from) {
			if s.RTCP(i, at, buf[:n]) {
				return true
			}
			if !e.To.IsValid() {
				to = from
			}
		} else if err != nil && !passing(err) {
			return false
		}
		if time.Now().After(next) && to.IsValid() {
			next = time.Now().Add(reportEvery)
			if b := s.Report(i, now(), own); b != nil {
				_, _ = e.RTCP.WriteToUDPAddrPort(b, to) // one that is lost is as good as none
			}
		}
	}
	return false
}

func (e Ends) takes(from netip.AddrPort) bool {
	return !e.From.IsValid() || from.Addr().Unmap() == e.From.Unmap()
}

// passing tells a read's error after which the socket goes on: a deadline, and an
// ICMP answer to a report of ours.
func passing(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, net.ErrClosed)
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
