package load

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
)

// Target is whom to ask, and in what words.
type Target struct {
	Network string // tcp or udp
	Address string // host:port
	Name    string // the URL without its user and query, to show
	// Request is one request, in the writes in which it is sent: each a call of its own.
	Request [][]byte
	Framing Framing
}

// Framing finds the end of an answer in what comes.
type Framing interface {
	// New is of one connection.
	New() Reader
}

// Reader takes what a connection receives. It reports how many answers ended in it, how many of these
// are errors by their own words, and an error where what came is no answer of the protocol.
type Reader interface {
	Read(b []byte) (done, failed int, err error)
}

// Sizes are those of one message, in bytes.
type Sizes struct {
	Size, Reply int
	Split       []int // the sizes of the writes; none: one
}

const mostBytes = 64 << 20

// ParseTarget reads tcp://HOST:PORT, udp://HOST:PORT and http://HOST[:PORT]/PATH. Sizes are of the
// first two, and of the writes of all.
func ParseTarget(text string, s Sizes) (t Target, err error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return t, fmt.Errorf("%s is no target: tcp://HOST:PORT, udp://HOST:PORT or http://HOST/PATH", text)
	}
	t.Network, t.Address, t.Name = "tcp", u.Host, u.Scheme+"://"+u.Host+u.EscapedPath()
	switch u.Scheme {
	case "tcp", "udp":
		t.Network = u.Scheme
		if s.Size < 1 || s.Size > mostBytes || s.Reply < 0 || s.Reply > mostBytes {
			return t, fmt.Errorf("messages of %d bytes and answers of %d: from 1 (0 for answers) to %d", s.Size, s.Reply, mostBytes)
		}
		t.Request, t.Framing = [][]byte{make([]byte, s.Size)}, bySize{s.Reply}
		for i := range t.Request[0] {
			t.Request[0][i] = byte('a' + i%26)
		}
		if _, _, err := net.SplitHostPort(u.Host); err != nil {
			return t, fmt.Errorf("%s has no port: %s://HOST:PORT", text, u.Scheme)
		}
	case "http":
		if _, _, err := net.SplitHostPort(u.Host); err != nil {
			t.Address = net.JoinHostPort(u.Hostname(), "80")
		}
		t.Request, t.Framing = [][]byte{requestOf(u)}, http1{}
	default:
		return t, fmt.Errorf("%s is not spoken yet: tcp, udp or http", u.Scheme)
	}
	if len(s.Split) > 0 {
		t.Request, err = split(t.Request[0], s.Split)
	}
	return t, err
}

// split divides a message into the writes that are asked for; what is left over goes with the last.
func split(message []byte, sizes []int) (out [][]byte, err error) {
	for i, n := range sizes {
		if n < 1 || n > len(message) {
			return nil, fmt.Errorf("write %d of %d bytes: %d of the message are left", i+1, n, len(message))
		}
		if i == len(sizes)-1 {
			n = len(message)
		}
		out, message = append(out, message[:n]), message[n:]
	}
	return out, nil
}

func (t Target) check() error {
	_, port, err := net.SplitHostPort(t.Address)
	if err != nil {
		return err
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return fmt.Errorf("%s: no port of %s", port, t.Network)
	}
	if t.Network == "udp" && len(t.Request) > 1 {
		return errors.New("a datagram is one write: it can't be split")
	}
	if len(t.Request) == 0 || slices.ContainsFunc(t.Request, func(w []byte) bool { return len(w) == 0 }) {
		return errors.New("a request needs at least one byte in each of its writes")
	}
	return nil
}

// bySize is a protocol in which each answer has so many bytes: an echo, or what sockperf and iperf
// call a message.
type bySize struct{ size int }

func (p bySize) New() Reader { return &sized{size: p.size} }

type sized struct{ size, have int }

func (r *sized) Read(b []byte) (done, failed int, err error) {
	if r.size == 0 {
		return 0, 0, nil
	}
	r.have += len(b)
	done, r.have = r.have/r.size, r.have%r.size
	return done, 0, nil
}
