// Package interleaved takes one direction of a captured RTSP connection apart:
// requests, answers, and the RTP and RTCP packets between them (RFC 2326, 10.12).
// Where the capture began inside a packet, or missed bytes, it searches for packets
// that lead from one to the next.
package interleaved

import (
	"bytes"
	"strconv"
	"strings"
)

// Bounds, in bytes. A packet's length has 16 bits.
const (
	maxHeader = 16 << 10
	maxBody   = 64 << 10
	maxHeld   = 128 << 10
	chain     = 4 // packets that must follow each other to be believed
)

// Out takes what a direction carries. What it is given is good until it returns.
type Out interface {
	Packet(at int64, channel uint8, b []byte)
	// Text is a request or an answer.
	Text(at int64, m Message)
}

// Message is a request or an answer.
type Message struct {
	First  string // the first line
	header string
	Body   []byte
}

// Get returns a header field.
func (m *Message) Get(name string) string {
	for line := range strings.SplitSeq(m.header, "\r\n") {
		if n, v, ok := strings.Cut(line, ":"); ok && strings.EqualFold(strings.TrimSpace(n), name) {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// Framer follows one direction.
type Framer struct {
	out    Out
	held   []byte
	synced bool
	skip   int // bytes of a packet that has a hole
}

// New makes a framer; start says that it gets the direction from its first byte on.
func New(start bool, out Out) *Framer { return &Framer{out: out, synced: start} }

// Synced reports whether packets are known to begin where they do.
func (f *Framer) Synced() bool { return f.synced }

// Data takes the next bytes.
func (f *Framer) Data(at int64, b []byte) {
	n := min(f.skip, len(b))
	b, f.skip = b[n:], f.skip-n
	if len(b) == 0 {
		return
	}
	whole := b
	if len(f.held) > 0 {
		f.held = append(f.held, b...)
		whole = f.held
	}
	n = f.take(at, whole)
	if rest := whole[n:]; len(rest) == 0 {
		f.held = f.held[:0]
	} else if len(rest) > maxHeld {
		f.held, f.synced = f.held[:0], false
	} else {
		f.held = append(f.held[:0], rest...) // moves it to the front where it was held before
	}
}

// take returns how many bytes are dealt with.
func (f *Framer) take(at int64, b []byte) (n int) {
	for n < len(b) {
		if !f.synced {
			skip, ok := search(b[n:])
			n += skip
			if !ok {
				return n
			}
			f.synced = true
		}
		k := f.one(at, b[n:])
		if k == 0 {
			return n
		}
		if k < 0 {
			f.synced = false
			k = 1
		}
		n += k
	}
	return n
}

// one takes one packet or message off the front of b; 0: more is needed, -1: b
// begins with neither.
func (f *Framer) one(at int64, b []byte) int {
	switch c := b[0]; {
	case c == '$':
		if len(b) < 4 {
			return 0
		}
		n := 4 + int(b[2])<<8 + int(b[3])
		if len(b) < n {
			return 0
		}
		f.out.Packet(at, b[1], b[4:n])
		return n
	case c == '\r' || c == '\n':
		return 1
	case c < 'A' || c > 'Z':
		return -1
	}
	end := bytes.Index(b[:min(len(b), maxHeader)], []byte("\r\n\r\n"))
	if end < 0 {
		if len(b) >= maxHeader || !printable(b[:min(len(b), 16)]) {
			return -1
		}
		return 0
	}
	first, header, _ := strings.Cut(string(b[:end]), "\r\n")
	m := Message{First: first, header: header}
	if !strings.Contains(first, "RTSP/") {
		return -1
	}
	length := 0
	if v := m.Get("Content-Length"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 || n > maxBody {
			return -1
		}
		length = n
	}
	end += 4
	if len(b) < end+length {
		return 0
	}
	m.Body = b[end : end+length]
	f.out.Text(at, m)
	return end + length
}

func printable(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\r' && c != '\n' || c > '~' {
			return false
		}
	}
	return true
}

// Hole says that n bytes are missing; 0: nobody knows how many.
func (f *Framer) Hole(n int64) {
	switch {
	case n > 0 && n <= int64(f.skip):
		f.skip -= int(n)
	case f.synced && n > 0 && f.skip == 0 && len(f.held) >= 4 && f.held[0] == '$':
		left := 4 + int64(f.held[2])<<8 + int64(f.held[3]) - int64(len(f.held))
		f.held = f.held[:0]
		if n <= left {
			f.skip = int(left - n)
			return
		}
		f.synced = false
	default:
		f.held, f.skip, f.synced = f.held[:0], 0, false
	}
}

// search finds where packets follow each other. ok is false where b has no such
// place; then skip is how much of it can be let go.
func search(b []byte) (skip int, ok bool) {
	for i := range b {
		if b[i] != '$' {
			continue
		}
		n, at := 0, i
		for n < chain && at+4 <= len(b) {
			if b[at] != '$' || b[at+1] > 31 {
				n = -1
				break
			}
			length := int(b[at+2])<<8 + int(b[at+3])
			if length < 8 || at+5 <= len(b) && len(b) > at+4 && b[at+4]>>6 != 2 { // RTP and RTCP are of version 2
				n = -1
				break
			}
			at += 4 + length
			n++
		}
		if n == chain {
			return i, true
		}
		if n >= 0 {
			return i, false // it may be one: more is needed
		}
	}
	return len(b), false
}
