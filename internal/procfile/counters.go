package procfile

import "bytes"

// CounterFunc gets one counter: proto "TcpExt", field "ListenDrops". The slices
// are only good until it returns.
type CounterFunc func(proto, field []byte, v float64)

// Pairs reads the form of /proc/net/snmp and netstat: a line of names, then
// a line of values, both with the same "Proto:" in front. A pair that does not
// match is skipped and counted in bad.
func Pairs(data []byte, each CounterFunc) (bad int) {
	for len(data) > 0 {
		var names, values []byte
		names, data = CutLine(data)
		if len(names) == 0 {
			continue
		}
		values, data = CutLine(data)
		proto, names, ok1 := bytes.Cut(names, []byte(":"))
		proto2, values, ok2 := bytes.Cut(values, []byte(":"))
		if !ok1 || !ok2 || !bytes.Equal(proto, proto2) {
			bad++
			continue
		}
		for {
			var name, value []byte
			name, names = CutField(names)
			value, values = CutField(values)
			if len(name) == 0 || len(value) == 0 {
				if len(name) != len(value) {
					bad++
				}
				break
			}
			if v, ok := Number(value); ok {
				each(proto, name, v)
			} else {
				bad++
			}
		}
	}
	return bad
}

// Lines6 reads the form of /proc/net/snmp6, "Ip6InReceives  \t1" a line.
// The protocol is all up to and with the 6, as in node_exporter.
func Lines6(data []byte, each CounterFunc) (bad int) {
	for len(data) > 0 {
		var line []byte
		line, data = CutLine(data)
		name, rest := CutField(line)
		value, _ := CutField(rest)
		if len(name) == 0 {
			continue
		}
		six := bytes.IndexByte(name, '6')
		v, ok := Number(value)
		if six < 0 || six+1 == len(name) || !ok {
			bad++
			continue
		}
		each(name[:six+1], name[six+1:], v)
	}
	return bad
}

// Sockstat reads the form of /proc/net/sockstat and sockstat6:
// "TCP: inuse 1 orphan 0" a line.
func Sockstat(data []byte, each CounterFunc) (bad int) {
	for len(data) > 0 {
		var line []byte
		line, data = CutLine(data)
		proto, rest, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			if len(line) > 0 {
				bad++
			}
			continue
		}
		for {
			var name, value []byte
			name, rest = CutField(rest)
			value, rest = CutField(rest)
			if len(name) == 0 {
				break
			}
			if v, ok := Number(value); ok {
				each(proto, name, v)
			} else {
				bad++
			}
		}
	}
	return bad
}

// CutLine is the first line of b without its end, and what follows it.
func CutLine(b []byte) (line, rest []byte) {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return b[:i], b[i+1:]
	}
	return b, nil
}

// CutField returns the first word of b and what follows it.
func CutField(b []byte) (field, rest []byte) {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for i, c := range b {
		if c == ' ' || c == '\t' {
			return b[:i], b[i:]
		}
	}
	return b, nil
}

// Number reads a decimal integer; Tcp MaxConn is −1 (RFC 1213).
func Number(b []byte) (float64, bool) {
	negative := len(b) > 0 && b[0] == '-'
	if negative {
		b = b[1:]
	}
	if len(b) == 0 || len(b) > 20 {
		return 0, false
	}
	var n uint64
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	if negative {
		return -float64(n), true
	}
	return float64(n), true
}
