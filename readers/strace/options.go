package strace

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"
)

// option takes what setsockopt set: (5, SOL_TCP, TCP_NODELAY, [1], 4).
func (l *life) option(c *Called) {
	_, name, _ := bytes.Cut(c.Args, []byte(", "))
	_, name, _ = bytes.Cut(name, []byte(", "))
	name, value, ok := bytes.Cut(name, []byte(", "))
	if !ok {
		return
	}
	said := func(text string) { l.c.Set = append(l.c.Set, fmt.Sprintf("%s %s (line %d)", name, text, c.Line)) }
	if d, ok := duration(value); ok && (string(name) == "SO_RCVTIMEO" || string(name) == "SO_RCVTIMEO_OLD" || string(name) == "SO_RCVTIMEO_NEW") {
		l.timeout(d, fmt.Sprintf("%s (line %d)", name, c.Line))
		return
	}
	if string(name) == "TCP_CONGESTION" {
		if l.c.Congestion = algorithm(value); l.c.Congestion != "" {
			said(l.c.Congestion)
		}
		return
	}
	n, ok := inBrackets(value)
	if !ok {
		return
	}
	on := n != 0
	switch string(name) {
	case "TCP_NODELAY":
		l.c.NoDelay = &on
		said(fmt.Sprint(n))
	case "TCP_QUICKACK":
		l.c.QuickAck = &on
		said(fmt.Sprint(n))
	case "TCP_CORK":
		l.cork(on)
	case "SO_SNDBUF":
		l.c.SendBuffer = n
		said(fmt.Sprintf("%d bytes", n))
	case "SO_RCVBUF":
		l.c.ReceiveBuffer = n
		said(fmt.Sprintf("%d bytes", n))
	}
}

// cork notes whether the kernel joins the writes that follow. When it no longer does, what it has is sent.
func (l *life) cork(on bool) {
	l.corked = on
	for i := len(l.c.Events) - 1; i >= 0 && !on; i-- {
		if e := &l.c.Events[i]; e.Out {
			e.Joins = false
			return
		}
	}
}

// moreFollows reports whether a call has the flag that joins its bytes with the next call's (send(2)):
// (5, "GET"..., 20, MSG_MORE|MSG_NOSIGNAL, NULL, 0). The data may have these letters too.
func moreFollows(args []byte) bool {
	return bytes.Contains(args[bytes.LastIndexByte(args, '"')+1:], []byte("MSG_MORE"))
}

// algorithm reads the name of one of congestion control, as "cubic". strace shows those of four letters as a number.
func algorithm(value []byte) string {
	name := value
	if rest, ok := bytes.CutPrefix(value, []byte{'['}); ok {
		n, _ := number(rest)
		name = binary.LittleEndian.AppendUint32(nil, uint32(n)) //nolint:gosec // its four bytes
	} else if rest, ok := bytes.CutPrefix(value, []byte{'"'}); ok {
		name = unescape(make([]byte, 0, mostName), rest)
	}
	for _, c := range name {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return ""
		}
	}
	return string(name)
}

// mostName is what the kernel takes of such a name (TCP_CA_NAME_MAX, include/net/tcp.h).
const mostName = 16

// timeout takes the first that is found: a program sets it once, and a poll with less time left follows.
func (l *life) timeout(d time.Duration, from string) {
	if d > 0 && l.c.Timeout == 0 {
		l.c.Timeout = d
		l.c.Set = append(l.c.Set, fmt.Sprintf("timeout %s, from %s", d, from))
	}
}

// polled takes how long a poll for this descriptor alone waits: ([{fd=5, events=POLLIN}], 1, 5000).
func (k *keeper) polled(c *Called) {
	rest, ok := bytes.CutPrefix(c.Args, []byte("[{fd="))
	if !ok || firstFD(rest) != k.fd || !bytes.Contains(c.Args, []byte("POLLIN")) {
		return
	}
	l := k.lives[k.now[c.PID]]
	if l == nil {
		return
	}
	_, after, _ := bytes.Cut(rest, []byte("], 1, "))
	d, ok := duration(after)
	if !ok {
		n, left := number(after)
		d, ok = time.Duration(n)*time.Millisecond, len(left) < len(after)
	}
	if ok && d <= mostTimeout {
		l.timeout(d, fmt.Sprintf("%s (line %d)", c.Name, c.Line))
	}
}

// mostTimeout is the longest that is believed.
const mostTimeout = time.Hour

// inBrackets reads [1].
func inBrackets(b []byte) (int, bool) {
	if len(b) < 3 || b[0] != '[' {
		return 0, false
	}
	n, rest := number(b[1:])
	return int(min(n, 1<<30)), len(rest) < len(b)-1 && len(rest) > 0 && rest[0] == ']'
}

// duration reads {tv_sec=5, tv_usec=0}, {tv_sec=5, tv_nsec=0}, and the 16 bytes of a struct timeval, which
// older straces show as a string.
func duration(b []byte) (time.Duration, bool) {
	if rest, ok := bytes.CutPrefix(b, []byte("{tv_sec=")); ok {
		sec, rest := number(rest)
		unit := time.Microsecond
		rest, micro := bytes.CutPrefix(rest, []byte(", tv_usec="))
		if !micro {
			var nano bool
			if rest, nano = bytes.CutPrefix(rest, []byte(", tv_nsec=")); !nano {
				return 0, false
			}
			unit = time.Nanosecond
		}
		part, _ := number(rest)
		return bounded(sec, part, unit)
	}
	if rest, ok := bytes.CutPrefix(b, []byte{'"'}); ok {
		raw := unescape(make([]byte, 0, 16), rest)
		if len(raw) < 16 {
			return 0, false
		}
		return bounded(int64(binary.LittleEndian.Uint64(raw)), int64(binary.LittleEndian.Uint64(raw[8:])), time.Microsecond)
	}
	return 0, false
}

func bounded(sec, part int64, unit time.Duration) (time.Duration, bool) {
	if sec < 0 || part < 0 || sec > int64(mostTimeout/time.Second) || part > int64(time.Second/unit) {
		return 0, false
	}
	return time.Duration(sec)*time.Second + time.Duration(part)*unit, true
}
