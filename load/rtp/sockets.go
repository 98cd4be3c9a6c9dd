package rtp

import (
	"fmt"
	"net"

	"snag/load"
)

// tries is how many pairs of local ports are tried.
const tries = 50

// connect opens a sender's two sockets: RTP on an even port and RTCP on the next one, where that is free
// (RFC 3550, section 11). Each is connected, so that it receives ICMP errors.
func (s *sender) connect(media, control *net.UDPAddr, o load.SocketOptions) (err error) {
	for range tries {
		if s.media, err = net.DialUDP("udp", nil, media); err != nil {
			return fmt.Errorf("make a socket: %w", err)
		}
		own, ok := s.media.LocalAddr().(*net.UDPAddr)
		if ok && own.Port%2 == 0 {
			if s.control, err = net.DialUDP("udp", &net.UDPAddr{IP: own.IP, Zone: own.Zone, Port: own.Port + 1}, control); err == nil {
				return s.set(o)
			}
		}
		s.media.Close()
	}
	if s.media, err = net.DialUDP("udp", nil, media); err != nil {
		return fmt.Errorf("make a socket: %w", err)
	}
	if s.control, err = net.DialUDP("udp", nil, control); err != nil {
		s.media.Close()
		return fmt.Errorf("make a socket: %w", err)
	}
	return s.set(o)
}

func (s *sender) set(o load.SocketOptions) error {
	raw, err := s.media.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) {
		s.fd = int(fd)
		failed = o.Set(int(fd), "udp")
	}); err != nil {
		return err
	}
	return failed
}

func (s *sender) close() {
	if s.media != nil {
		s.media.Close()
	}
	if s.control != nil {
		s.control.Close()
	}
}
