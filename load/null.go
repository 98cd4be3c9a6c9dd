package load

import (
	"io"
	"net"
)

// Null is a server in this process that answers a target's requests at once, with as many bytes
// as were to be expected. What a plan measures of it is what the measuring itself takes.
type Null struct {
	Target Target // the same requests, to this server
	tcp    net.Listener
	udp    net.PacketConn
	asks   int
	answer []byte
}

// anAnswer of HTTP, short as those of a health check.
const anAnswer = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok"

// NewNull starts it on a port of the loopback interface.
func NewNull(t Target) (*Null, error) {
	n := &Null{Target: t, answer: []byte(anAnswer)}
	if s, ok := t.Framing.(bySize); ok {
		n.answer = make([]byte, s.size)
	}
	for _, w := range t.Request {
		n.asks += len(w)
	}
	var err error
	if t.Network == "udp" {
		if n.udp, err = net.ListenPacket("udp", "127.0.0.1:0"); err != nil {
			return nil, err
		}
		n.Target.Address = n.udp.LocalAddr().String()
		go n.echo()
		return n, nil
	}
	if n.tcp, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	n.Target.Address = n.tcp.Addr().String()
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

func (n *Null) accept() {
	for {
		c, err := n.tcp.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			request := make([]byte, n.asks)
			for {
				if _, err := io.ReadFull(c, request); err != nil {
					return
				}
				if _, err := c.Write(n.answer); err != nil {
					return
				}
			}
		}()
	}
}

func (n *Null) echo() {
	b := make([]byte, 64<<10)
	for {
		size, from, err := n.udp.ReadFrom(b)
		if err != nil {
			return
		}
		answer := append(n.answer[:0:0], n.answer...)
		copy(answer, b[:min(size, stamped)])
		if _, err := n.udp.WriteTo(answer, from); err != nil {
			return
		}
	}
}
