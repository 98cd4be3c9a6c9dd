package rtsp

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"snag/internal/httpauth"
	"snag/probes/streams/stream"
	"snag/probes/streams/wire"
)

// client is one connection to a server.
type client struct {
	u     *url.URL // as asked, without credentials
	user  *url.Userinfo
	shown string
	o     stream.Options
	conn  net.Conn

	buf        []byte
	start, end int
	full       bool // the last read filled buf: more waits
	spoke      bool // the server sent something

	cseq      int
	session   string
	timeout   time.Duration // the session's
	public    string        // methods
	challenge *httpauth.Challenge
	uses      int // of the challenge's nonce
	onPacket  func(channel uint8, at int64, b []byte)
	at        int64 // when the bytes in buf came
}

// bufFirst holds what comes between two reads of a usual stream; it grows to
// bufMost for the largest message or packet.
const (
	bufFirst = 16 << 10
	bufMost  = maxHeader + maxBody + 16
)

func dial(ctx context.Context, u *url.URL, o stream.Options) (*client, error) {
	c := &client{shown: wire.Shown(u), user: u.User, o: o, buf: make([]byte, bufFirst), timeout: 60 * time.Second}
	plain := *u
	plain.User, plain.Fragment = nil, ""
	plain.Scheme, _, _ = strings.Cut(strings.ToLower(u.Scheme), "+")
	c.u = &plain
	port := u.Port()
	if port == "" {
		port = "554"
		if plain.Scheme == "rtsps" {
			port = "322"
		}
	}
	conn, err := wire.Dial(ctx, o.Netns, u.Hostname(), port, o.Timeout)
	if err != nil {
		cure := "does a server listen there, and is no firewall between?"
		var named *net.DNSError
		if errors.As(err, &named) {
			cure = "is the host's name right?"
		}
		return nil, fmt.Errorf("read %s: connect: %w (%s)", c.shown, err, cure)
	}
	c.conn = conn
	if plain.Scheme == "rtsps" {
		t := tls.Client(conn, &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12})
		hs, cancel := context.WithTimeout(ctx, o.Timeout)
		defer cancel()
		if err := t.HandshakeContext(hs); err != nil {
			_ = conn.Close()
			return nil, fmt.Errorf("read %s: TLS: %w (%s)", c.shown, err, secureCure(err))
		}
		c.conn = t
	}
	return c, nil
}

// secureCure is what would help where TLS could not be agreed on.
func secureCure(err error) string {
	var record tls.RecordHeaderError
	var verify *tls.CertificateVerificationError
	switch {
	case errors.As(err, &record):
		return "the server does not speak TLS here: use rtsp://, or the port of RTSPS"
	case errors.As(err, &verify):
		return "is its certificate signed by an authority that this host knows, and for this name? SSL_CERT_FILE can name another; rtsp:// is without TLS"
	}
	return "is this the port of RTSPS? rtsp:// is without TLS"
}

// errTick is a read that had nothing until its deadline.
var errTick = errors.New("nothing came")

var errClosed = errors.New("connection closed by the server")

// fill reads once more. It returns errTick when nothing came until the deadline.
func (c *client) fill(deadline time.Time) error {
	if c.start == c.end {
		c.start, c.end = 0, 0
	}
	if c.end == len(c.buf) {
		if c.start > 0 {
			c.end = copy(c.buf, c.buf[c.start:c.end])
			c.start = 0
		} else if len(c.buf) < bufMost {
			grown := make([]byte, min(2*len(c.buf), bufMost))
			copy(grown, c.buf)
			c.buf = grown
		} else {
			return errors.New("a message is longer than any may be")
		}
	}
	_ = c.conn.SetReadDeadline(deadline)
	n, err := c.conn.Read(c.buf[c.end:])
	c.at = c.o.Now()
	c.end += n
	c.spoke = c.spoke || n > 0
	c.full = c.end == len(c.buf)
	switch {
	case n > 0:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errTick
	case errors.Is(err, io.EOF):
		return errClosed
	}
	return err
}

// next takes a message that is whole in the buffer; errMore when there is none.
// Interleaved packets are given to onPacket on the way.
func (c *client) next() (message, error) {
	for {
		b := c.buf[c.start:c.end]
		// Nearly all that comes is packets.
		if channel, body, n, ok, err := packet(b); ok {
			if err != nil {
				return message{}, err
			}
			c.start += n
			if c.onPacket != nil {
				c.onPacket(channel, c.at, body)
			}
			continue
		}
		if len(b) == 0 {
			return message{}, errMore
		}
		m, n, err := parse(b)
		if err != nil {
			return m, err
		}
		c.start += n
		if m.interleaved {
			if c.onPacket != nil {
				c.onPacket(m.channel, c.at, m.body)
			}
			continue
		}
		return m, nil
	}
}

// send writes a request and returns its CSeq.
func (c *client) send(method, uri string, fields ...field) (int, error) {
	c.cseq++
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s RTSP/1.0\r\nCSeq: %d\r\nUser-Agent: snag\r\n", method, uri, c.cseq)
	if c.session != "" {
		fmt.Fprintf(&b, "Session: %s\r\n", c.session)
	}
	if c.challenge != nil && c.user != nil {
		c.uses++
		fmt.Fprintf(&b, "Authorization: %s\r\n", c.challenge.Answer(c.user, method, uri, random(), c.uses))
	}
	for _, f := range fields {
		fmt.Fprintf(&b, "%s: %s\r\n", f.name, f.value)
	}
	b.WriteString("\r\n")
	return c.cseq, c.write([]byte(b.String()))
}

func (c *client) write(b []byte) error {
	_ = c.conn.SetWriteDeadline(time.Now().Add(c.o.Timeout))
	if _, err := c.conn.Write(b); err != nil {
		return fmt.Errorf("write to the server: %w", err)
	}
	return nil
}

func random() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return hex.EncodeToString(b[:])
}

// slice is how long a read is at the most, so that the end of ctx is seen.
const slice = 200 * time.Millisecond

// ask sends a request and waits for its answer, with authentication where the
// server wants it and the URL has it. The body is good until the next read.
func (c *client) ask(ctx context.Context, method, uri string, fields ...field) (message, error) {
	for try := 0; ; try++ {
		seq, err := c.send(method, uri, fields...)
		if err != nil {
			return message{}, c.failed(method, err)
		}
		m, err := c.answerTo(ctx, seq)
		if err != nil {
			return m, c.failed(method, err)
		}
		if m.status != 401 || c.user == nil || try == 2 {
			return m, nil
		}
		offered, ok := httpauth.Choose(m.all("WWW-Authenticate"))
		if !ok || c.challenge != nil && c.challenge.Nonce == offered.Nonce || try == 1 && !offered.Stale {
			return m, nil // refused with what it asked for, or asked for what snag can't give
		}
		c.challenge, c.uses = &offered, 0
	}
}

func (c *client) failed(method string, err error) error {
	if !c.spoke && (errors.Is(err, errClosed) || errors.Is(err, syscall.ECONNRESET)) {
		return fmt.Errorf("read %s: %s: %w (is this port for RTSP, and not for RTSPS?)", c.shown, method, err)
	}
	return fmt.Errorf("read %s: %s: %w", c.shown, method, err)
}

func (c *client) answerTo(ctx context.Context, seq int) (message, error) {
	deadline := time.Now().Add(c.o.Timeout)
	for {
		m, err := c.next()
		switch {
		case errors.Is(err, errMore):
			if ctx.Err() != nil {
				return m, ctx.Err()
			}
			if time.Now().After(deadline) {
				return m, fmt.Errorf("no answer within %s (is this an RTSP server?)", c.o.Timeout)
			}
			if err := c.fill(time.Now().Add(slice)); err != nil && !errors.Is(err, errTick) {
				return m, err
			}
		case err != nil:
			return m, err
		case m.status == 0:
			if err := c.serve(m); err != nil {
				return m, err
			}
		default:
			got, err := strconv.Atoi(m.get("CSeq"))
			if err == nil && got != seq || m.status < 200 {
				continue // to an earlier request, or not the last word
			}
			return m, nil
		}
	}
}

// serve answers a request of the server's. Its TEARDOWN and REDIRECT end the stream.
func (c *client) serve(m message) error {
	status := "200 OK"
	var end error
	switch m.method {
	case "OPTIONS", "GET_PARAMETER", "SET_PARAMETER", "ANNOUNCE", "PLAY_NOTIFY":
	case "TEARDOWN":
		end = errors.New("the server sent TEARDOWN")
	case "REDIRECT":
		end = errors.New("the server sent REDIRECT, elsewhere")
	default:
		status = "501 Not Implemented"
	}
	seq := m.get("CSeq")
	if _, err := strconv.Atoi(seq); err != nil {
		seq = "0"
	}
	if err := c.write([]byte("RTSP/1.0 " + status + "\r\nCSeq: " + seq + "\r\n\r\n")); err != nil {
		return err
	}
	return end
}

func (c *client) close() {
	if c.session != "" {
		_ = c.conn.SetWriteDeadline(time.Now().Add(300 * time.Millisecond))
		_, _ = c.send("TEARDOWN", c.u.String()) // a server that does not hear it waits for its own timeout
	}
	_ = c.conn.Close()
}
