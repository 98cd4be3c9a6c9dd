package load

import (
	"crypto/tls"
	"errors"
	"net"
	"time"

	"snag/load/protocol"
)

// Null is a server in this process that answers a target's requests at once. What a plan measures of
// it is what the measuring itself takes.
type Null struct {
	Target Target // the same requests, to this server
	tcp    net.Listener
	udp    net.PacketConn
}

// NewNull starts it on a port of the loopback interface.
func NewNull(t Target) (*Null, error) {
	n := &Null{Target: t}
	n.Target.near = true
	var err error
	if t.Network == "udp" {
		if n.udp, err = net.ListenPacket("udp", "127.0.0.1:0"); err != nil {
			return nil, err
		}
		n.Target.Address = n.udp.LocalAddr().String()
		go n.datagrams()
		return n, nil
	}
	if n.tcp, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	n.Target.Address = n.tcp.Addr().String()
	if over, ok := t.Protocol.(protocol.TLS); ok {
		own, err := protocol.Certificate()
		if err != nil {
			n.Close()
			return nil, err
		}
		n.tcp = tls.NewListener(n.tcp, &tls.Config{Certificates: []tls.Certificate{own}, NextProtos: over.Config.NextProtos})
		n.Target.Protocol = protocol.TLS{Protocol: protocol.WithoutLogin(over.Protocol), Config: over.Trusting()}
	} else {
		n.Target.Protocol = protocol.WithoutLogin(t.Protocol)
	}
	go n.accept()
	return n, nil
}

// Close ends it.
func (n *Null) Close() {
	if n.udp != nil {
		n.udp.Close()
		return
	}
	n.tcp.Close()
}

// acceptAgain is how long the server waits after a connection that it could not take.
const acceptAgain = 10 * time.Millisecond

func (n *Null) accept() {
	for {
		c, err := n.tcp.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // such as too many open files: those that wait are taken when there is room
			time.Sleep(acceptAgain)
			continue
		}
		go func() {
			defer c.Close()
			s, b := n.Target.Protocol.Server(), make([]byte, 64<<10)
			for {
				size, err := c.Read(b)
				if err != nil {
					return
				}
				if answer := s.Serve(b[:size]); len(answer) > 0 {
					if _, err := c.Write(answer); err != nil {
						return
					}
				}
			}
		}()
	}
}

func (n *Null) datagrams() {
	s, b := n.Target.Protocol.Server(), make([]byte, 64<<10)
	for {
		size, from, err := n.udp.ReadFrom(b)
		if err != nil {
			return
		}
		if answer := s.Serve(b[:size]); len(answer) > 0 {
			if _, err := n.udp.WriteTo(answer, from); err != nil {
				return
			}
		}
	}
}
