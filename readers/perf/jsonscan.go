package perf

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// jsonScan goes through a JSON text (RFC 8259) of any length and keeps nothing of it:
// who reads a profile takes what he wants of it, and passes over the rest. It does not
// check what it passes over beyond its brackets and strings.
type jsonScan struct {
	in   *bufio.Reader
	at   int64 // bytes read
	text []byte
	err  error
}

func newJSONScan(r io.Reader) *jsonScan { return &jsonScan{in: bufio.NewReaderSize(r, 64<<10)} }

// mostJSONText bounds a string, or a number, bytes.
const mostJSONText = 1 << 20

var errJSONLong = errors.New("a text in it is longer than 1 MB")

func (s *jsonScan) fail(err error) {
	if s.err == nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		s.err = err
	}
}

// peek is the next byte that is no space; 0 at the end, or after an error.
func (s *jsonScan) peek() byte {
	for s.err == nil {
		c, err := s.in.ReadByte()
		if err != nil {
			s.fail(err)
			return 0
		}
		if c == ' ' || c == '\n' || c == '\t' || c == '\r' {
			s.at++
			continue
		}
		_ = s.in.UnreadByte()
		return c
	}
	return 0
}

// take takes a byte, if it is that one.
func (s *jsonScan) take(c byte) bool {
	if s.peek() != c || s.err != nil {
		return false
	}
	_, _ = s.in.Discard(1)
	s.at++
	return true
}

// end makes more behind the value an error.
func (s *jsonScan) end() {
	if s.err != nil {
		return
	}
	if c := s.peek(); s.err == nil {
		s.fail(fmt.Errorf("at byte %d, behind its end, there is %q", s.at, c))
	} else if errors.Is(s.err, io.ErrUnexpectedEOF) {
		s.err = nil
	}
}

func (s *jsonScan) need(c byte) bool {
	if s.take(c) {
		return true
	}
	s.fail(fmt.Errorf("at byte %d there is no %q", s.at, c))
	return false
}

// object calls field with each key; what field does not read must be skipped by it.
func (s *jsonScan) object(field func(key string)) {
	if !s.need('{') || s.take('}') {
		return
	}
	for {
		key := s.string()
		if !s.need(':') {
			return
		}
		field(key)
		if s.err != nil || s.take('}') {
			return
		}
		if !s.need(',') {
			return
		}
	}
}

// array calls element for each of its elements, which must read it.
func (s *jsonScan) array(element func()) {
	if !s.need('[') || s.take(']') {
		return
	}
	for {
		element()
		if s.err != nil || s.take(']') {
			return
		}
		if !s.need(',') {
			return
		}
	}
}

// string reads a string; of another value it passes over, "".
func (s *jsonScan) string() string {
	if s.peek() != '"' {
		s.skip()
		return ""
	}
	s.quoted(true)
	var out string
	if s.err == nil {
		if err := json.Unmarshal(s.text, &out); err != nil {
			s.fail(fmt.Errorf("before byte %d: %w", s.at, err))
		}
	}
	return out
}

// quoted reads a string with its quotes into text, or passes over it.
func (s *jsonScan) quoted(keep bool) {
	s.text = s.text[:0]
	for escaped, first := false, true; s.err == nil; first = false {
		c, err := s.in.ReadByte()
		if err != nil {
			s.fail(err)
			return
		}
		s.at++
		if keep {
			if s.text = append(s.text, c); len(s.text) > mostJSONText {
				s.fail(errJSONLong)
			}
		}
		switch {
		case escaped:
			escaped = false
		case c == '\\':
			escaped = true
		case c == '"' && !first:
			return
		}
	}
}

// number reads a number; NaN's place is taken by ok false.
func (s *jsonScan) number() (v float64, ok bool) {
	if c := s.peek(); c != '-' && !isDigit(c) {
		s.skip()
		return 0, false
	}
	s.word()
	v, err := strconv.ParseFloat(string(s.text), 64)
	return v, err == nil
}

// index reads a whole number that is not below zero; -1 where it is none.
func (s *jsonScan) index() int {
	v, ok := s.number()
	if !ok || v < 0 || v > 1<<31 || v != float64(int(v)) {
		return -1
	}
	return int(v)
}

// word reads a number, true, false or null into text.
func (s *jsonScan) word() {
	s.text = s.text[:0]
	for s.err == nil {
		c, err := s.in.ReadByte()
		if err != nil {
			if len(s.text) == 0 || !errors.Is(err, io.EOF) {
				s.fail(err)
			}
			return
		}
		if !isDigit(c) && c != '-' && c != '+' && c != '.' && (c|0x20 < 'a' || c|0x20 > 'z') {
			_ = s.in.UnreadByte()
			break
		}
		s.at++
		if s.text = append(s.text, c); len(s.text) > 64 {
			s.fail(fmt.Errorf("before byte %d there is a number or word that JSON has not", s.at))
		}
	}
	if len(s.text) == 0 {
		s.fail(fmt.Errorf("at byte %d there is no value", s.at))
	}
}

// skip passes over a value.
func (s *jsonScan) skip() {
	switch s.peek() {
	case '"':
		s.quoted(false)
		return
	case '{', '[':
	default:
		s.word()
		return
	}
	for depth := 0; s.err == nil; {
		switch s.peek() {
		case '"':
			s.quoted(false)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if s.err != nil {
			return
		}
		_, _ = s.in.Discard(1)
		s.at++
		if depth == 0 {
			return
		}
	}
}
