package ffprobe

import (
	"bytes"
	"time"

	"snag/internal/stamp"
)

// writer is how ffprobe was told to write (-print_format).
type writer int

const (
	none writer = iota
	compact
	csv
	plain // "default": [PACKET] … [/PACKET]
	json
)

// mark is how the time of a line's arrival stands before it, as ts(1) puts it.
type mark struct {
	read stamp.Reader // nil: none does
}

var marks = []stamp.Reader{stamp.Epoch, stamp.ISO, stamp.Syslog}

// strip takes the time off a line; at is 0 where it has none.
func (m *mark) strip(c *stamp.Clock, line []byte) (at int64, rest []byte) {
	if m.read == nil {
		return 0, line
	}
	from := 0
	if len(line) > 0 && line[0] == '[' {
		from = 1
	}
	ns, n := m.read(c, line[from:])
	if n == 0 {
		return 0, line
	}
	rest = line[from+n:]
	for len(rest) > 0 && (rest[0] == ']' || rest[0] == ':' || rest[0] == ' ' || rest[0] == '\t') {
		rest = rest[1:]
	}
	return ns, rest
}

// kindOf tells by a file's beginning how it was written, and how its lines are marked;
// none where it is nothing of ffprobe's.
func kindOf(head []byte) (writer, mark) {
	c := stamp.New(time.UTC, time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC))
	for _, m := range []mark{{}, {read: marks[0]}, {read: marks[1]}, {read: marks[2]}} {
		var fits [json + 1]int
		lines := 0
		for rest := head; len(rest) > 0 && lines < 400; {
			line, after, _ := bytes.Cut(rest, []byte("\n"))
			rest = after
			at, text := m.strip(&c, bytes.TrimRight(line, "\r"))
			if m.read != nil && at == 0 {
				continue
			}
			lines++
			fits[writerOf(text)]++
		}
		for w := compact; w <= json; w++ {
			if fits[w] > 0 {
				return w, m
			}
		}
	}
	return none, mark{}
}

// writerOf tells by a line that only one writer begins a packet or frame with.
func writerOf(line []byte) writer {
	line = bytes.TrimLeft(line, " \t")
	var r record
	switch {
	case bytes.HasPrefix(line, []byte("packet|")), bytes.HasPrefix(line, []byte("frame|")):
		if r.compact(line); r.typed {
			return compact
		}
	case bytes.HasPrefix(line, []byte("packet,")), bytes.HasPrefix(line, []byte("frame,")):
		if r.csv(line) {
			return csv
		}
	case string(line) == "[PACKET]", string(line) == "[FRAME]":
		return plain
	case bytes.HasPrefix(line, []byte(`"packets": [`)), bytes.HasPrefix(line, []byte(`"frames": [`)), bytes.HasPrefix(line, []byte(`"packets_and_frames": [`)):
		return json
	}
	return none
}

// scanner makes records of lines.
type scanner struct {
	writer writer
	mark   mark
	clock  stamp.Clock
	r      record
	open   bool // within a packet or frame
	depth  int  // of JSON's brackets within it
	frames bool // JSON: what follows are frames
	use    func(*record)
	others uint64 // lines that belong to no packet or frame
}

// line takes the next.
func (s *scanner) line(line []byte) {
	at, text := s.mark.strip(&s.clock, bytes.TrimRight(line, "\r"))
	switch s.writer {
	case compact:
		if !s.r.compact(text) {
			s.others++
			return
		}
		s.done(at)
	case csv:
		if !s.r.csv(text) {
			s.others++
			return
		}
		s.done(at)
	case plain:
		s.plainLine(at, text)
	case json:
		s.jsonLine(at, text)
	}
}

func (s *scanner) done(at int64) {
	s.r.arrival = at
	s.use(&s.r)
}

func (s *scanner) plainLine(at int64, text []byte) {
	switch string(text) {
	case "[PACKET]", "[FRAME]":
		s.r.clear()
		s.open, s.r.frame = true, string(text) == "[FRAME]"
	case "[/PACKET]", "[/FRAME]":
		if s.open {
			s.done(at)
		}
		s.open = false
	default:
		key, value, ok := bytes.Cut(text, []byte("="))
		switch {
		case ok && s.open:
			s.r.set(key, value)
		case !s.open:
			s.others++
		}
	}
}

// jsonLine takes what a line of JSON has of keys and values: ffprobe writes one a line,
// or with compact=1 one packet per line. Side data lie deeper and are left out.
func (s *scanner) jsonLine(at int64, text []byte) {
	var key []byte
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"':
			end := i + 1
			for end < len(text) && text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			word := text[i+1 : min(end, len(text))]
			i = end
			switch {
			case key != nil && s.depth == 1:
				s.value(key, word)
				key = nil
			case end+1 < len(text) && text[end+1] == ':':
				key = word
				s.section(key)
			}
		case '{':
			key = nil
			if s.depth++; s.depth == 1 {
				s.r.clear()
				s.r.frame = s.frames
			}
		case '}':
			if s.depth == 1 && s.r.anything {
				s.done(at)
			}
			s.depth = max(s.depth-1, 0)
		case '[':
			key = nil
		default:
			if key != nil && s.depth == 1 && (c >= '0' && c <= '9' || c == '-') {
				end := i
				for end < len(text) && text[end] != ',' && text[end] != ' ' && text[end] != '}' {
					end++
				}
				s.value(key, text[i:end])
				key, i = nil, end-1
			}
		}
	}
}

// section notes where packets or frames begin: from there brackets are counted.
func (s *scanner) section(key []byte) {
	switch string(key) {
	case "packets", "frames", "packets_and_frames":
		s.frames, s.depth = string(key) == "frames", 0
	}
}

func (s *scanner) value(key, value []byte) {
	if string(key) == "type" {
		s.r.frame = string(value) == "frame"
		return
	}
	s.r.set(key, value)
}
