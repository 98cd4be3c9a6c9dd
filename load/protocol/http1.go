package protocol

import (
	"bytes"
	"fmt"
	"strconv"
)

// HTTP1 is HTTP/1.1 (RFC 9112): an answer is a status line, headers, and a body whose end its
// Content-Length or its last chunk shows.
type HTTP1 struct {
	Writes [][]byte
	Head   bool // the method is HEAD: answers have no body
}

// Request is one request of HTTP/1.1. Headers are pairs of name and value.
func Request(method, path, host string, headers [][2]string, body []byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, path, host)
	for _, h := range headers {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
	}
	if len(body) > 0 {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(body))
	}
	b.WriteString("\r\n")
	b.Write(body)
	return b.Bytes()
}

// New implements Protocol.
func (p HTTP1) New() Conversation { return &response{fixed: p.Writes, head: p.Head} }

// anAnswer is short, as those of a health check.
const anAnswer = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok"

// Server implements Protocol.
func (p HTTP1) Server() Server {
	answer := anAnswer
	if p.Head {
		answer = answer[:len(answer)-2]
	}
	return &counted{asks: sizeOf(p.Writes), answer: []byte(answer)}
}

// What comes next of a response.
const (
	inHead = iota
	inBody
	inChunkSize
	inChunk
	inTrailer
	inRest // a body that ends with the connection
)

const mostHead = 64 << 10 // bytes, as nginx and Apache take at most

type response struct {
	fixed
	head bool

	line []byte // the part of a line that came so far
	answer
}

// answer is what is known of the one that is being read.
type answer struct {
	state  int
	size   int   // bytes of the head so far
	left   int64 // bytes of the body or of the chunk
	status int
	length int64 // −1: none was given
	chunks bool
	closes bool // the connection ends with the answer
}

// Read implements Conversation.
func (r *response) Read(b []byte) (got Got, err error) {
	for len(b) > 0 {
		switch r.state {
		case inRest:
			return got, nil
		case inBody, inChunk:
			n := min(int64(len(b)), r.left)
			b, r.left = b[n:], r.left-n
			if r.left > 0 {
				continue
			}
			if r.state == inChunk {
				r.state = inChunkSize
				continue
			}
		default:
			line, rest, whole := r.nextLine(b)
			if b = rest; !whole {
				continue
			}
			ended, err := r.take(line)
			if err != nil {
				return got, err
			}
			if !ended {
				continue
			}
		}
		r.done(&got)
	}
	return got, nil
}

func (r *response) done(got *Got) {
	got.Done++
	if r.status >= 500 || r.status == 429 {
		got.Failed++
	}
	got.Last = r.closes
	r.answer = answer{}
}

// End implements Ender.
func (r *response) End() (got Got) {
	if r.state == inRest {
		r.done(&got)
	}
	return got
}

// nextLine is a line without its end, or what came of it.
func (r *response) nextLine(b []byte) (line, rest []byte, whole bool) {
	at := bytes.IndexByte(b, '\n')
	if at < 0 {
		r.line = append(r.line, b...)
		return r.line, nil, len(r.line) > mostHead // too long: take says so
	}
	line, rest = b[:at], b[at+1:]
	if len(r.line) > 0 {
		line = append(r.line, line...)
		r.line = line[:0]
	}
	return bytes.TrimSuffix(line, []byte("\r")), rest, true
}

// take reads a line of the head, of chunks or of the trailer, and reports whether the answer ends
// with it.
func (r *response) take(line []byte) (ended bool, err error) {
	if r.size += len(line) + 2; r.size > mostHead && r.state == inHead || len(line) > mostHead {
		return false, fmt.Errorf("the head of an answer is longer than %d kB", mostHead>>10)
	}
	switch r.state {
	case inHead:
		switch {
		case r.status == 0:
			r.length = -1
			return false, r.takeStatus(line)
		case len(line) > 0:
			return false, r.takeHeader(line)
		case r.status < 200: // an interim answer: the real one follows (RFC 9110, 15.2)
			r.status, r.size = 0, 0
			return false, nil
		case r.head, r.status == 204, r.status == 304, r.length == 0:
			return true, nil
		case r.chunks:
			r.state = inChunkSize
		case r.length > 0:
			r.state, r.left = inBody, r.length
		default:
			r.state, r.closes = inRest, true
		}
	case inChunkSize:
		if len(line) == 0 { // the end of the chunk before
			return false, nil
		}
		size, _, _ := bytes.Cut(line, []byte(";"))
		n, err := strconv.ParseInt(string(bytes.TrimSpace(size)), 16, 64)
		if err != nil || n < 0 {
			return false, fmt.Errorf("%.20q is not a chunk size", line)
		}
		if r.state, r.left = inChunk, n; n == 0 {
			r.state = inTrailer
		}
	case inTrailer:
		return len(line) == 0, nil
	}
	return false, nil
}

func (r *response) takeStatus(line []byte) error {
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.")) {
		return fmt.Errorf("%.40q is not an answer of HTTP/1.1", line)
	}
	n, err := strconv.Atoi(string(line[9:12]))
	if err != nil || n < 100 {
		return fmt.Errorf("%.40q has no status", line)
	}
	r.status, r.closes = n, line[7] == '0'
	return nil
}

func (r *response) takeHeader(line []byte) error {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimSpace(value)
	switch {
	case bytes.EqualFold(name, []byte("Content-Length")):
		n, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil || n < 0 {
			return fmt.Errorf("%.40q is not a length", line)
		}
		r.length = n
	case bytes.EqualFold(name, []byte("Connection")):
		switch value = bytes.ToLower(value); {
		case bytes.Contains(value, []byte("close")):
			r.closes = true
		case bytes.Contains(value, []byte("keep-alive")):
			r.closes = false
		}
	case bytes.EqualFold(name, []byte("Transfer-Encoding")):
		r.chunks = bytes.HasSuffix(bytes.ToLower(value), []byte("chunked"))
		r.length = -1
	}
	return nil
}
