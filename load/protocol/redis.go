package protocol

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// Redis is its serialization protocol, versions 2 and 3 (redis.io/docs/latest/develop/reference/protocol-spec).
type Redis struct {
	Writes         [][]byte
	User, Password string
	DB             int
}

// Command encodes a command, whose words are separated by spaces.
func Command(words ...string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	return b.Bytes()
}

// New implements Protocol.
func (p *Redis) New() Conversation { return &redisClient{fixed: p.Writes} }

// Server implements Protocol.
func (p *Redis) Server() Server {
	return &counted{asks: sizeOf(p.Writes), answer: []byte("+OK\r\n")}
}

// Login implements Login: a password and a database are sent before the first request.
func (p *Redis) Login(ctx context.Context, c net.Conn) (net.Conn, error) {
	var all [][]byte
	if p.Password != "" {
		if p.User != "" {
			all = append(all, Command("AUTH", p.User, p.Password))
		} else {
			all = append(all, Command("AUTH", p.Password))
		}
	}
	if p.DB != 0 {
		all = append(all, Command("SELECT", strconv.Itoa(p.DB)))
	}
	stop := context.AfterFunc(ctx, func() { c.Close() })
	defer stop()
	for _, command := range all {
		if _, err := c.Write(command); err != nil {
			return nil, err
		}
		if err := awaitOK(c); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func awaitOK(c net.Conn) error {
	r, b := &redisClient{}, make([]byte, 512)
	for {
		n, err := c.Read(b)
		if err != nil {
			return err
		}
		got, err := r.Read(b[:n])
		switch {
		case err != nil:
			return err
		case got.Failed > 0:
			return errors.New(strings.TrimSpace(string(b[1:n])))
		case got.Done > 0:
			return nil
		}
	}
}

type redisClient struct {
	fixed
	line   []byte
	skip   int   // bytes of a bulk string that are still to come, its end included
	open   []int // how many values each open aggregate lacks
	failed bool
}

const (
	mostDepth = 64
	mostLine  = 64 << 10
)

// Read implements Conversation. An answer is one value; an aggregate ends with its last element.
func (r *redisClient) Read(b []byte) (got Got, err error) {
	for len(b) > 0 {
		if r.skip > 0 {
			n := min(r.skip, len(b))
			if r.skip, b = r.skip-n, b[n:]; r.skip == 0 && r.value() {
				r.done(&got)
			}
			continue
		}
		at := bytes.IndexByte(b, '\n')
		if at < 0 {
			if r.line = append(r.line, b...); len(r.line) > mostLine {
				return got, fmt.Errorf("a line of an answer is longer than %d kB", mostLine>>10)
			}
			return got, nil
		}
		line := append(r.line, b[:at]...)
		b, r.line = b[at+1:], line[:0]
		ended, err := r.take(bytes.TrimSuffix(line, []byte("\r")))
		if err != nil {
			return got, err
		}
		if ended {
			r.done(&got)
		}
	}
	return got, nil
}

func (r *redisClient) done(got *Got) {
	got.Done++
	if r.failed {
		got.Failed++
	}
	r.failed = false
}

// value books one complete value. It reports whether the answer ends with it.
func (r *redisClient) value() bool {
	for len(r.open) > 0 {
		last := len(r.open) - 1
		if r.open[last]--; r.open[last] > 0 {
			return false
		}
		r.open = r.open[:last]
	}
	return true
}

func (r *redisClient) take(line []byte) (ended bool, err error) {
	if len(line) == 0 {
		return false, errors.New("an empty line is not a Redis answer")
	}
	kind, rest := line[0], line[1:]
	if kind == '-' {
		r.failed = r.failed || len(r.open) == 0
	}
	switch kind {
	case '+', '-', ':', '_', '#', ',', '(':
		return r.value(), nil
	case '$', '=', '!', '*', '~', '>', '%', '|':
	default:
		return false, fmt.Errorf("%.40q is not a Redis answer", line)
	}
	n, err := strconv.Atoi(string(rest))
	switch {
	case err != nil || n > 512<<20:
		return false, fmt.Errorf("%.40q is not a size", line)
	case n < 0: // null
		return r.value(), nil
	}
	switch kind {
	case '$', '=', '!':
		r.failed = r.failed || kind == '!' && len(r.open) == 0
		r.skip = n + 2
		return false, nil
	case '%':
		n *= 2
	case '|': // attributes, and then the value that they are about
		n = 2*n + 1
	}
	if n == 0 {
		return r.value(), nil
	}
	if len(r.open) == mostDepth {
		return false, fmt.Errorf("an answer of Redis is nested deeper than %d", mostDepth)
	}
	r.open = append(r.open, n)
	return false, nil
}
