package strace

import (
	"bytes"
	"encoding/binary"
)

// Kind is what a line of strace tells.
type Kind uint8

// Kinds of lines.
const (
	Noise      Kind = iota // nothing that is counted: a blank line, a message, a summary
	Call                   // a call and its result
	Unfinished             // a call that another thread's line cut off
	Resumed                // the rest of such a call, with its result
	Continued              // the same, of the line above, into which strace said something
	Signal                 // --- SIGCHLD {…} ---
	Exit                   // +++ exited with 0 +++, +++ killed by SIGKILL +++
	Superseded             // +++ superseded by execve in pid N +++
	Frame                  // a line of -k, of the call before it
	Attached               // strace: Process N attached
	Table                  // a line of the table of -c and -C
	Message                // something else that strace itself says
)

// Style is what a line's time is.
type Style uint8

// Styles of time.
const (
	NoTime    Style = iota
	Relative        // -r: since the line before
	TimeOfDay       // -t, -tt: since midnight, in the zone of strace's host
	Epoch           // -ttt
)

// Line is one line, told apart. Its slices lie in the text that was parsed.
type Line struct {
	Kind  Kind
	Style Style
	// PID is the thread's number where the line has it; 0: it has none.
	PID   int
	Comm  []byte // of -Y; nil where the line has none
	Stamp int64  // ns, by Style
	Name  []byte
	Args  []byte // between the brackets, of Unfinished as far as they go, of Resumed the rest
	// Result. Known is false where strace shows "?".
	Known bool
	Ret   int64
	Errno []byte // as ENOENT; nil where it did not fail
	Tail  []byte // what stands behind the number: "(Timeout)", "</etc/hosts>", "([{fd=3, …}])"
	Took  int64  // ns of -T; -1 where the line has none
	Hit   bool   // it holds the text that was looked for; set by who reads the file
}

// Parse tells one line apart, without its line end. It never fails: what it does
// not know is Noise.
func (l *Line) Parse(b []byte) {
	l.Kind, l.Style, l.PID, l.Stamp, l.Known, l.Ret, l.Took, l.Hit = Noise, NoTime, 0, 0, false, 0, -1, false
	l.Name, l.Args, l.Errno, l.Tail, l.Comm = nil, nil, nil, nil, nil
	if n := len(b); n > 0 && b[n-1] == '\r' {
		b = b[:n-1]
	}
	if len(b) > 2 && b[0] == ' ' && b[1] == '>' && b[2] == ' ' {
		l.Kind = Frame
		return
	}
	whole := b
	b = l.prefix(b)
	if len(b) == 0 {
		return
	}
	switch c := b[0]; {
	case c >= 'a' && c <= 'z' || c == '_':
		l.call(b)
	case c == '<':
		if l.resumed(b); l.Kind == Noise && l.PID == 0 && string(b) == "<unfinished ...>" {
			l.Kind = Message
		}
	case c == '-' && bytes.HasPrefix(b, []byte("--- ")):
		l.Kind = Signal
		l.Name, _, _ = bytes.Cut(b[4:], []byte(" "))
	case c == '+' && bytes.HasPrefix(b, []byte("+++ ")):
		l.exit(b[4:])
	case b[0] == ')' || b[0] == '=' || b[0] == ',':
		if l.finish(b, Continued); l.Kind == Unfinished {
			l.Kind = Message // still
		}
	case isTable(whole):
		*l = Line{Kind: Table, Args: whole, Took: -1}
	}
}

// untimed tells a line whose time, if it looks to have one, is none of the trace's.
func (l *Line) untimed() bool { return l.Kind == Noise || l.Kind >= Frame }

// prefix takes off the thread, the time, the instruction pointer (-i) and the
// call's number (-n), in the order in which strace writes them.
func (l *Line) prefix(b []byte) []byte {
	if len(b) > 0 && b[0] == '[' && bytes.HasPrefix(b, []byte("[pid ")) {
		n, rest := number(skipSpaces(b[5:]))
		b = l.thread(n, rest)
		if len(b) > 0 && b[0] == ']' {
			b = b[1:]
		}
	} else if n, rest := number(b); len(rest) < len(b) && len(rest) > 0 && (rest[0] == ' ' || rest[0] == '<') {
		b = l.thread(n, rest)
	}
	b = l.time(skipSpaces(b))
	for len(b) > 0 && b[0] == '[' { // -i, -n
		end := bytes.IndexByte(b, ']')
		if end < 0 {
			return nil
		}
		b = skipSpaces(b[end+1:])
	}
	return b
}

// thread takes the thread's number, behind which, with -Y, stands "<comm>".
func (l *Line) thread(n int64, rest []byte) []byte {
	l.PID = int(n)
	if len(rest) > 0 && rest[0] == '<' {
		if end := bytes.IndexByte(rest, '>'); end >= 0 {
			l.Comm, rest = rest[1:end], rest[end+1:]
		}
	}
	return rest
}

// time reads the forms of -r, -t, -tt and -ttt; with -r beside another, the
// other counts and its "(+ 0.000123)" is passed over.
func (l *Line) time(b []byte) []byte {
	if len(b) > 19 && b[10] == '.' && b[17] == ' ' { // 1700000000.123456 of -ttt
		sec, ok := eightDigits(binary.LittleEndian.Uint64(b))
		us, ok2 := eightDigits(binary.LittleEndian.Uint64(b[11:])<<16 | '0'<<8 | '0')
		if ok && ok2 && b[0] != '0' && b[0] < '4' && b[8]-'0' < 10 && b[9]-'0' < 10 && b[18] != ' ' && b[18] != '(' {
			l.Stamp, l.Style = (int64(sec)*100+int64(b[8]-'0')*10+int64(b[9]-'0'))*1e9+int64(us)*1e3, Epoch
			return b[18:]
		}
	}
	sec, rest := number(b)
	if len(rest) == 0 || len(rest) == len(b) || sec > mostSeconds {
		return b
	}
	switch rest[0] {
	case ':':
		b = l.timeOfDay(b)
	case '.':
		var ns int64
		ns, rest = fraction(rest[1:])
		l.Stamp, l.Style = sec*1e9+ns, Relative
		if sec >= 1e8 { // 1973: nobody waited so long for a call
			l.Style = Epoch
		}
		b = skipSpaces(rest)
	default:
		return b
	}
	if len(b) > 1 && b[0] == '(' && b[1] == '+' {
		if end := bytes.IndexByte(b, ')'); end >= 0 {
			b = skipSpaces(b[end+1:])
		}
	}
	return b
}

// mostSeconds, in the year 2096, fit into nanoseconds, a few times.
const mostSeconds = 4_000_000_000

func (l *Line) timeOfDay(b []byte) []byte {
	h, rest := number(b)
	if len(rest) < 6 || digits(rest[1:]) != 2 || rest[3] != ':' || digits(rest[4:]) != 2 {
		return b
	}
	m, rest := number(rest[1:])
	s, rest := number(rest[1:])
	var ns int64
	if len(rest) > 0 && rest[0] == '.' {
		ns, rest = fraction(rest[1:])
	}
	l.Stamp, l.Style = ((h*60+m)*60+s)*1e9+ns, TimeOfDay
	return skipSpaces(rest)
}

func (l *Line) call(b []byte) {
	i := 1
	for i < len(b) && isName(b[i]) {
		i++
	}
	if i >= len(b) || b[i] != '(' {
		l.message(b)
		return
	}
	l.Name = b[:i]
	l.finish(b[i+1:], Call)
}

// message reads what strace itself says between the calls.
func (l *Line) message(b []byte) {
	if rest, ok := bytes.CutPrefix(b, []byte("strace: Process ")); ok {
		if n, rest := number(rest); n > 0 && bytes.HasPrefix(rest, []byte(" attached")) {
			l.Kind, l.PID = Attached, int(n)
			return
		}
	}
	if bytes.HasPrefix(b, []byte("strace: ")) { // "Process N detached", "[ Process PID=N runs in 32 bit mode. ]"
		l.Kind = Message
	}
}

// resumed reads "<... read resumed>", with or without a space behind it.
func (l *Line) resumed(b []byte) {
	b, ok := bytes.CutPrefix(b, []byte("<... "))
	if !ok {
		return
	}
	i := 0
	for i < len(b) && isName(b[i]) {
		i++
	}
	rest, ok := bytes.CutPrefix(b[i:], []byte(" resumed>"))
	if !ok || i == 0 {
		return
	}
	l.Name = b[:i]
	if l.finish(rest, Resumed); l.Kind == Unfinished { // cut off again: it goes on as it did
		l.Kind = Message
	}
}

func (l *Line) exit(b []byte) {
	l.Kind = Exit
	if bytes.HasPrefix(b, []byte("superseded by execve")) {
		l.Kind = Superseded
		if i := bytes.Index(b, []byte("pid ")); i >= 0 {
			n, _ := number(b[i+4:])
			l.Ret = n
		}
	}
}

// finish reads what stands behind the call's opening bracket, from the line's
// end: names of files and strings may hold anything, brackets and results too.
func (l *Line) finish(b []byte, kind Kind) {
	if n := len(b); n > 1 && b[n-1] == '>' {
		if b[n-2] == '.' {
			for _, end := range [...]string{"<unfinished ...>", "<detached ...>"} {
				if n >= len(end) && string(b[n-len(end):]) == end {
					l.Kind, l.Args = Unfinished, b[:n-len(end)]
					return
				}
			}
		}
		b = l.took(b)
	}
	if args, ok := l.result(b); ok {
		l.Kind, l.Args = kind, args
		return
	}
	l.interrupted(b)
}

// interrupted reads the two halves of a line of -f on standard error into which strace
// said that a new thread is attached: "clone3({flags=… strace: Process 9 attached", then
// " <unfinished ...>" or the rest with its result.
func (l *Line) interrupted(b []byte) {
	if i := bytes.LastIndex(b, []byte("strace: Process ")); i >= 0 && l.Kind == Noise && bytes.HasSuffix(b, []byte(" attached")) {
		l.Kind, l.Args = Unfinished, b[:i]
		return
	}
	l.Name, l.Took = nil, -1
}

// took takes off the time of -T at a line's end.
func (l *Line) took(b []byte) []byte {
	if n := len(b); n > 11 && b[n-8] == '.' && b[n-10] == '<' && b[n-11] == ' ' { // <0.000031>
		if us, ok := eightDigits(binary.LittleEndian.Uint64(b[n-9:])&^0xffff | '0'<<8 | '0'); ok && b[n-9] >= '0' && b[n-9] <= '9' {
			l.Took = int64(b[n-9]-'0')*1e9 + int64(us)*1e3
			return trimSpaces(b[:n-10])
		}
	}
	i := len(b) - 2
	for i >= 0 && (b[i] >= '0' && b[i] <= '9' || b[i] == '.') {
		i--
	}
	if i < 1 || b[i] != '<' || b[i-1] != ' ' {
		return b
	}
	sec, rest := number(b[i+1:])
	if rest[0] != '.' || b[i+1] == '.' || sec > mostSeconds {
		return b
	}
	ns, rest := fraction(rest[1:])
	if len(rest) != 1 {
		return b
	}
	l.Took = sec*1e9 + ns
	return trimSpaces(b[:i])
}

// result finds the last ") = RESULT" that is one, and gives what stands before it.
func (l *Line) result(b []byte) (args []byte, ok bool) {
	for i := len(b) - 2; i > 0; i-- {
		if b[i] != '=' || b[i+1] != ' ' || b[i-1] != ' ' {
			continue
		}
		j := i - 1
		for j > 0 && b[j] == ' ' {
			j--
		}
		if b[j] == ')' && l.value(b[i+2:]) {
			return b[:j], true
		}
	}
	return nil, false
}

// unavailable stands for the result of a call that came back, after which strace did not get
// to read it: the thread was killed just then. Of a call that did not come back there is "?" alone.
const unavailable = "<unavailable>"

// value reads a result: a number in one of C's forms or "?", then nothing, the
// name of an error, a note in brackets, or what the descriptor is (-y).
func (l *Line) value(b []byte) bool {
	var rest []byte
	known := true
	var ret int64
	switch {
	case len(b) == 0:
		return false
	case b[0] == '?':
		rest, known = b[1:], false
	case b[0] == '0' && len(b) > 1 && b[1] == 'x':
		ret, rest = hex(b[2:])
	default:
		var ok bool
		if ret, rest, ok = signed(b); !ok {
			return false
		}
	}
	var errno []byte
	switch {
	case len(rest) == 0:
	case rest[0] == '<':
		if rest[len(rest)-1] != '>' {
			return false
		}
	case rest[0] == ' ' && len(rest) > 1:
		rest = rest[1:]
		if rest[0] >= 'A' && rest[0] <= 'Z' {
			errno, rest, _ = bytes.Cut(rest, []byte(" "))
		}
		switch n := len(rest); {
		case n == 0:
		case !known && string(rest) == unavailable:
		case rest[0] != '(' || rest[n-1] != ')':
			return false
		case ret == -1 && errno == nil && bytes.HasPrefix(rest, []byte("(errno ")): // an error without a name
			errno = rest[1 : n-1]
		}
	default:
		return false
	}
	l.Known, l.Ret, l.Errno, l.Tail = known, ret, errno, rest
	return true
}
