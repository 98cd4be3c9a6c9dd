package rtp

import (
	"errors"
	"net"
	"sync"
	"time"

	"github.com/pion/rtp"
	"golang.org/x/sys/unix"
)

// sender is one source of media.
type sender struct {
	media, control *net.UDPConn
	fd             int // media's
	shape          Shape
	begins         time.Duration // its first frame
	ssrc           uint32
	packet         rtp.Packet
	frame          int64
	i              int // of the frame's packets, the next one
	begun          time.Duration
	packets, bytes uint32 // sent, for reports
	reportAt       time.Duration

	mu      sync.Mutex // below: also the goroutines that read
	refused map[string]int64
	heard   reports
}

const firstSequence = 1

// payloadType is dynamic (RFC 3551, section 3).
const payloadType = 96

func newSender(shape Shape, begins time.Duration, ssrc uint32) *sender {
	s := &sender{shape: shape, begins: begins, ssrc: ssrc, refused: map[string]int64{}}
	s.packet = rtp.Packet{Header: rtp.Header{Version: 2, PayloadType: payloadType, SSRC: ssrc, SequenceNumber: firstSequence}}
	return s
}

func (s *sender) due() time.Duration { return s.begins + s.shape.due(s.frame, s.i) }

// next writes the packet that is due into b.
func (s *sender) next(b, filler []byte) (n int, err error) {
	s.packet.Timestamp = s.shape.stamp(s.frame)
	s.packet.Marker = s.i == s.shape.packets(s.frame)-1
	s.packet.Payload = filler[:s.shape.payload(s.frame, s.i)]
	return s.packet.MarshalTo(b)
}

// advance goes on to the next packet.
func (s *sender) advance() {
	s.packet.SequenceNumber++
	if s.i++; s.i == s.shape.packets(s.frame) {
		s.frame, s.i = s.frame+1, 0
	}
}

// send sends a packet as the socket takes it: what it refuses is not sent again.
func (s *sender) send(b []byte) (sent bool) {
	for {
		_, err := unix.Write(s.fd, b)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			s.refuse(err)
			return false
		}
		s.packets++
		s.bytes += uint32(len(s.packet.Payload))
		return true
	}
}

func (s *sender) refuse(err error) {
	s.mu.Lock()
	s.refused[kindOf(err)]++
	s.mu.Unlock()
}

// kindOf says what an error of a socket means for a packet.
func kindOf(err error) string {
	switch {
	case errors.Is(err, unix.ECONNREFUSED):
		return "ECONNREFUSED: nothing listens on the port (ICMP)"
	case errors.Is(err, unix.EAGAIN):
		return "EAGAIN: the socket's send buffer was full"
	case errors.Is(err, unix.ENOBUFS):
		return "ENOBUFS: the interface's queue was full"
	case errors.Is(err, unix.EPERM):
		return "EPERM: a firewall of this host drops them"
	case errors.Is(err, unix.EHOSTUNREACH):
		return "EHOSTUNREACH: the receiver's host is not reached"
	case errors.Is(err, unix.ENETUNREACH):
		return "ENETUNREACH: no route to the receiver"
	case errors.Is(err, unix.EMSGSIZE):
		return "EMSGSIZE: larger than the way's MTU"
	}
	var errno unix.Errno
	if errors.As(err, &errno) {
		return unix.ErrnoName(errno)
	}
	return "other errors"
}
