package elimination

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// service is a server of HTTP/1.1, with what can be wrong with one.
type service struct {
	work   time.Duration // a request of /work takes
	all    time.Duration // every request takes besides
	first  time.Duration // from the connection to its first answer, besides
	accept time.Duration // between two connections that it accepts
	size   int           // bytes of an answer's body
	split  bool          // an answer is two writes, without TCP_NODELAY
	turns  chan struct{} // its workers; nil: as many as there are requests
	tls    *tls.Config
}

func (s *service) serve(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return // it was closed
		}
		go s.talk(c)
		time.Sleep(s.accept)
	}
}

func (s *service) talk(c net.Conn) {
	defer c.Close()
	if tcp, ok := c.(*net.TCPConn); ok && s.split {
		_ = tcp.SetNoDelay(false) // what it is by default, but in Go
	}
	if s.tls != nil {
		c = tls.Server(c, s.tls)
	}
	in := bufio.NewReader(c)
	if _, err := in.Peek(1); err != nil {
		return // a connection without a request
	}
	time.Sleep(s.first)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		s.compute(r.URL.Path)
		if err := s.answer(c, r.Method); err != nil {
			return
		}
	}
}

func (s *service) compute(path string) {
	if s.turns != nil {
		s.turns <- struct{}{}
		defer func() { <-s.turns }()
	}
	d := s.all
	if path == "/work" {
		d += s.work
	}
	time.Sleep(d)
}

func (s *service) answer(c net.Conn, method string) error {
	head, body := fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", s.size), make([]byte, s.size)
	if method == http.MethodHead {
		body = nil
	}
	if s.split {
		if _, err := c.Write(head[:20]); err != nil {
			return err
		}
		head = head[20:]
	}
	_, err := c.Write(append(head, body...))
	return err
}
