package logs

import (
	"bytes"
	"strconv"

	"snag/internal/stamp"
)

// form is how the lines of a file say when. open reads what stands before a line's own
// message: the time, and with some the host, the process and its pid.
type form struct {
	name string
	open func(c *stamp.Clock, line []byte, e *entry) (message []byte, ok bool)
}

// forms, the most particular first.
var forms = []form{
	{"Docker's json-file", dockerLine},
	{"JSON lines", jsonLine},
	{"CRI", criLine},
	{"syslog (RFC 5424)", syslog5424},
	{"syslog", headed(stamp.Syslog)},
	{"journalctl -o short-iso", headed(stamp.ISO)},
	{"journalctl -o short-unix", headed(stamp.Epoch)},
	{"glog", plain(stamp.Glog)},
	{"access log", clfLine},
	{"time of day and date", plain(stamp.ISO)},
	{"asctime", plain(stamp.Asctime)},
	{"epoch", plain(stamp.Epoch)},
	{"date and time behind a word or three", later},
}

// Detection looks at that many lines; the form must fit one in leastFit of them, as
// stack traces and other lines without a time stand in between.
const (
	sniffLines = 300
	leastFit   = 4
	// asGood: a more particular form is taken that fits so many of what the best does.
	asGood = 0.8
)

// formOf tells the form by a file's beginning; nil for what is no log.
func formOf(head []byte, c stamp.Clock) *form {
	var fits [32]int
	lines := 0
	for rest := head; len(rest) > 0 && lines < sniffLines; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		if rest = after; !whole && lines > 0 {
			break
		}
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(bytes.TrimSpace(line)) == 0 || line[0] == '#' {
			continue
		}
		if bytes.IndexByte(line, 0) >= 0 {
			return nil
		}
		lines++
		for i := range forms {
			var e entry
			if _, ok := forms[i].open(&c, line, &e); ok && e.at > 0 {
				fits[i]++
			}
		}
	}
	best := 0
	for _, n := range fits {
		best = max(best, n)
	}
	if best == 0 || best*leastFit < lines {
		return nil
	}
	for i := range forms {
		if float64(fits[i]) >= asGood*float64(best) {
			return &forms[i]
		}
	}
	return nil
}

// plain is a time at the line's beginning, with or without brackets or quotes.
func plain(read stamp.Reader) func(*stamp.Clock, []byte, *entry) ([]byte, bool) {
	return func(c *stamp.Clock, line []byte, e *entry) ([]byte, bool) {
		line = bytes.TrimLeft(line, " ") // Consul and Terraform before 1.7 begin with four
		at := 0
		for at < len(line) && at < 2 && (line[at] == '[' || line[at] == '"' || line[at] == '(') {
			at++
		}
		ns, n := read(c, line[at:])
		if n == 0 {
			return nil, false
		}
		e.at = ns
		rest := line[at+n:]
		for len(rest) > 0 && (rest[0] == ']' || rest[0] == '"' || rest[0] == ')' || rest[0] == ':') {
			rest = rest[1:]
		}
		if at == 0 && len(line) > 0 && line[0] >= 'A' { // glog's level is its first letter
			e.level = levelOfLetter(line[0])
		}
		return bytes.TrimLeft(rest, " \t"), true
	}
}

func levelOfLetter(c byte) level {
	switch c {
	case 'E', 'F':
		return wrong
	case 'W':
		return warning
	}
	return info
}

// headed is a time and "host tag[pid]: ", as syslog's files and journalctl have it
// (RFC 3164). "<34>" before it is its priority.
func headed(read stamp.Reader) func(*stamp.Clock, []byte, *entry) ([]byte, bool) {
	return func(c *stamp.Clock, line []byte, e *entry) ([]byte, bool) {
		pri := -1
		if len(line) > 3 && line[0] == '<' {
			end := bytes.IndexByte(line[:min(5, len(line))], '>')
			if end < 2 {
				return nil, false
			}
			pri, _ = strconv.Atoi(string(line[1:end]))
			line = line[end+1:]
		}
		ns, n := read(c, line)
		if n == 0 || n >= len(line) || line[n] != ' ' {
			return nil, false
		}
		host, rest, ok := bytes.Cut(line[n+1:], []byte(" "))
		if !ok || len(host) == 0 || !hostName(host) {
			return nil, false
		}
		tag, message, ok := bytes.Cut(rest, []byte(": "))
		if !ok {
			tag, ok = bytes.CutSuffix(rest, []byte(":"))
		}
		if !ok || len(tag) == 0 || len(tag) > 100 || bytes.IndexByte(tag, ' ') >= 0 || tag[0] == '[' || tag[0] == '"' {
			return nil, false
		}
		e.at, e.host = ns, host
		if pri >= 0 {
			e.level = levelOfPriority(pri & 7)
		}
		e.setTag(tag)
		return message, true
	}
}

// setTag takes "sshd[812]".
func (e *entry) setTag(tag []byte) {
	if open := bytes.IndexByte(tag, '['); open > 0 && tag[len(tag)-1] == ']' {
		e.pid = number(tag[open+1 : len(tag)-1])
		tag = tag[:open]
	}
	e.process = tag
}

// levelOfPriority: RFC 5424 6.2.1.
func levelOfPriority(p int) level {
	switch {
	case p <= 3:
		return wrong
	case p == 4:
		return warning
	}
	return info
}

func hostName(b []byte) bool {
	if len(b) > 255 {
		return false
	}
	for _, c := range b {
		if !digit(c) && (c|0x20 < 'a' || c|0x20 > 'z') && c != '-' && c != '.' && c != '_' && c != ':' && c != '@' {
			return false
		}
	}
	return true
}

// number reads digits; 0 for what is none.
func number(b []byte) int {
	n := 0
	for _, c := range b {
		if !digit(c) || n > 1<<58 {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// syslog5424 reads "<34>1 2026-03-01T12:00:00Z host app 812 ID47 [data] message".
func syslog5424(c *stamp.Clock, line []byte, e *entry) ([]byte, bool) {
	if len(line) > 0 && digit(line[0]) { // octet counting of RFC 6587
		_, line, _ = bytes.Cut(line, []byte(" "))
	}
	end := bytes.IndexByte(line[:min(5, len(line))], '>')
	if end < 2 || line[0] != '<' || !bytes.HasPrefix(line[end+1:], []byte("1 ")) {
		return nil, false
	}
	pri := number(line[1:end])
	rest := line[end+3:]
	ns, n := stamp.ISO(c, rest)
	if n == 0 || n >= len(rest) {
		return nil, false
	}
	e.at, e.level = ns, levelOfPriority(pri&7)
	rest = rest[n+1:]
	e.host, rest, _ = bytes.Cut(rest, []byte(" "))
	e.process, rest, _ = bytes.Cut(rest, []byte(" "))
	pid, rest, _ := bytes.Cut(rest, []byte(" "))
	_, rest, _ = bytes.Cut(rest, []byte(" "))
	e.pid = number(pid)
	for len(rest) > 0 && rest[0] == '[' { // structured data, in which "\]" is escaped
		i := 1
		for i < len(rest) && (rest[i] != ']' || rest[i-1] == '\\') {
			i++
		}
		rest = rest[min(i+1, len(rest)):]
	}
	rest = bytes.TrimPrefix(rest, []byte("-"))
	return bytes.TrimPrefix(bytes.TrimLeft(rest, " "), []byte("\xef\xbb\xbf")), true
}

// criLine reads "2026-03-01T12:00:00.123456789Z stderr F message" of the container
// runtimes of Kubernetes; P is a part of a line whose rest follows.
func criLine(c *stamp.Clock, line []byte, e *entry) ([]byte, bool) {
	ns, n := stamp.ISO(c, line)
	if n == 0 || len(line) < n+10 {
		return nil, false
	}
	rest := line[n:]
	if !bytes.HasPrefix(rest, []byte(" stdout ")) && !bytes.HasPrefix(rest, []byte(" stderr ")) || rest[8] != 'F' && rest[8] != 'P' || rest[9] != ' ' {
		return nil, false
	}
	e.at = ns
	return rest[10:], true
}

// dateAt is how far from a line's beginning the date of an access log may be: addresses
// and names of users stand before it.
const dateAt = 300

// clfLine finds "[01/Mar/2026:12:00:00 +0100]" in a line. The whole line is the message.
func clfLine(c *stamp.Clock, line []byte, e *entry) ([]byte, bool) {
	for from := 0; from < min(len(line), dateAt); {
		i := bytes.IndexByte(line[from:], '[')
		if i < 0 {
			return nil, false
		}
		from += i + 1
		if ns, n := stamp.CLF(c, line[from:]); n > 0 {
			e.at = ns
			return line, true
		}
	}
	return nil, false
}

func digit(c byte) bool { return c-'0' < 10 }

// hosts is how many hosts a file's beginning names.
func (f *form) hosts(head []byte, c stamp.Clock) int {
	seen := map[string]bool{}
	for len(head) > 0 {
		var line []byte
		line, head, _ = bytes.Cut(head, []byte("\n"))
		var e entry
		if _, ok := f.open(&c, line, &e); ok && len(e.host) > 0 {
			seen[string(e.host)] = true
		}
	}
	return len(seen)
}

// later finds the time behind up to three words: "ERROR 2026-03-01 12:00:00 …", "[main]
// INFO 2026-…".
func later(c *stamp.Clock, line []byte, e *entry) ([]byte, bool) {
	from := 0
	for range 3 {
		i := bytes.IndexByte(line[from:min(len(line), from+40)], ' ')
		if i < 0 {
			return nil, false
		}
		from += i + 1
		at := from
		if at < len(line) && line[at] == '[' {
			at++
		}
		if ns, n := stamp.ISO(c, line[at:]); n > 0 {
			e.at, e.level = ns, levelAt(line[:from])
			return bytes.TrimLeft(line[at+n:], " \t]:,-"), true
		}
	}
	return nil, false
}
