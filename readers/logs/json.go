package logs

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"snag/internal/stamp"
)

// eachField hands out the fields of a JSON object's first level: the value as it stands,
// without quotes where it is a string. It stops at what is no JSON, and tells.
func eachField(b []byte, use func(key, value []byte, text bool)) bool {
	i := space(b, 0)
	if i >= len(b) || b[i] != '{' {
		return false
	}
	for i = space(b, i+1); i < len(b) && b[i] != '}'; i = space(b, i) {
		if b[i] == ',' {
			i++
			continue
		}
		if b[i] != '"' {
			return false
		}
		end := stringEnd(b, i)
		if end < 0 {
			return false
		}
		key := b[i+1 : end]
		if i = space(b, end+1); i >= len(b) || b[i] != ':' {
			return false
		}
		i = space(b, i+1)
		if i >= len(b) {
			return false
		}
		end = valueEnd(b, i)
		if end < 0 {
			return false
		}
		if b[i] == '"' {
			use(key, b[i+1:end-1], true)
		} else {
			use(key, b[i:end], false)
		}
		i = end
	}
	return i < len(b)
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// stringEnd is where the string that begins at i closes; -1: nowhere.
func stringEnd(b []byte, i int) int {
	for j := i + 1; j < len(b); {
		k := bytes.IndexByte(b[j:], '"')
		if k < 0 {
			return -1
		}
		j += k
		slashes := 0
		for j-1-slashes > i && b[j-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return j
		}
		j++
	}
	return -1
}

// valueEnd is behind the value that begins at i; -1: it has no end.
func valueEnd(b []byte, i int) int {
	switch b[i] {
	case '"':
		end := stringEnd(b, i)
		if end < 0 {
			return -1
		}
		return end + 1
	case '{', '[':
		depth := 0
		for j := i; j < len(b); j++ {
			switch b[j] {
			case '"':
				if j = stringEnd(b, j); j < 0 {
					return -1
				}
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return j + 1
				}
			}
		}
		return -1
	}
	j := i
	for j < len(b) && b[j] != ',' && b[j] != '}' && b[j] != ' ' && b[j] != '\t' {
		j++
	}
	return j
}

// unescape makes a JSON string's text; b itself where nothing is escaped.
func unescape(b []byte) []byte {
	if bytes.IndexByte(b, '\\') < 0 {
		return b
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' || i+1 == len(b) {
			out = append(out, b[i])
			continue
		}
		i++
		switch b[i] {
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		case 'b', 'f':
			out = append(out, ' ')
		case 'u':
			if i+5 > len(b) {
				return out
			}
			n, err := strconv.ParseUint(string(b[i+1:i+5]), 16, 32)
			if err != nil {
				return out
			}
			out = utf8.AppendRune(out, rune(n))
			i += 4
		default:
			out = append(out, b[i])
		}
	}
	return out
}

// dockerLine reads {"log":"message\n","stream":"stdout","time":"2026-03-01T12:00:00Z"}.
func dockerLine(c *stamp.Clock, line []byte, e *entry) ([]byte, bool) {
	if !bytes.HasPrefix(line, []byte(`{"log":"`)) {
		return nil, false
	}
	var message []byte
	ok := eachField(line, func(key, value []byte, text bool) {
		switch string(key) {
		case "log":
			message = value
		case "time":
			e.at, _ = stamp.ISO(c, value)
		}
	})
	return bytes.TrimRight(unescape(message), "\r\n"), ok && e.at > 0
}

// jsonLine reads a line whose fields say when, by the usual names. The message is the
// line, where no field is its message.
func jsonLine(c *stamp.Clock, line []byte, e *entry) ([]byte, bool) {
	if len(line) == 0 || line[0] != '{' {
		return nil, false
	}
	message := line
	ok := eachField(line, func(key, value []byte, text bool) {
		switch string(key) {
		case "@timestamp", "timestamp", "ts", "time", "t", "datetime", "date", "time_iso8601", "eventTime", "msec", "__REALTIME_TIMESTAMP", "_SOURCE_REALTIME_TIMESTAMP", "time_local":
			if e.at == 0 || string(key) == "__REALTIME_TIMESTAMP" {
				if at := jsonTime(c, value); at > 0 {
					e.at = at
				}
			}
		case "msg", "message", "MESSAGE", "log":
			if text {
				message = unescape(value)
			}
		default:
			e.field(key, value)
		}
	})
	return message, ok && e.at > 0
}

// jsonTime reads a time however loggers write it.
func jsonTime(c *stamp.Clock, value []byte) int64 {
	for _, read := range []stamp.Reader{stamp.ISO, stamp.Epoch, stamp.CLF} {
		if ns, n := read(c, value); n > 0 {
			return ns
		}
	}
	return 0
}

// field takes what a structured line says under the names that servers and their
// users' formats have for it (nginx's own variables among them).
func (e *entry) field(key, value []byte) {
	switch string(key) {
	case "level", "severity", "lvl", "loglevel":
		e.level = max(e.level, levelOf(value))
	case "PRIORITY":
		if len(value) == 1 && digit(value[0]) {
			e.level = levelOfPriority(int(value[0] - '0'))
		}
	case "host", "hostname", "_HOSTNAME", "@host":
		if e.host == nil {
			e.host = value
		}
	case "SYSLOG_IDENTIFIER", "_COMM", "service", "app", "program":
		if e.process == nil || string(key) == "SYSLOG_IDENTIFIER" {
			e.process = value
		}
	case "_PID", "pid":
		e.pid = number(value)
	case "remote_addr", "client_ip", "client", "remote_ip", "remote", "clientip", "peer":
		e.peer = value
	case "stream", "stream_name", "streamName", "stream_key":
		if string(value) != "stdout" && string(value) != "stderr" {
			e.stream = value
		}
	case "status", "status_code", "response_code":
		if e.status = number(value); e.status >= 100 && e.status < 600 {
			e.request = true
		} else {
			e.status = 0
		}
	case "request_time", "rt", "rqt":
		e.took = decimal(value)
		e.request = e.request || e.took >= 0
	case "duration_ms", "latency_ms", "response_time_ms", "elapsed_ms", "took_ms":
		if v := decimal(value); v >= 0 {
			e.took = v / 1e3
		}
	case "upstream_addr", "upstream", "ua":
		e.addUpstreams(value, nil)
	case "upstream_response_time", "urt", "upstream_time":
		e.addUpstreams(nil, value)
	}
}

// decimal reads "0.123"; unknown for what is none.
func decimal(b []byte) float64 {
	if len(b) == 0 || len(b) > 20 || !digit(b[0]) {
		return unknown
	}
	whole, i := 0.0, 0
	for ; i < len(b) && digit(b[i]); i++ {
		whole = whole*10 + float64(b[i]-'0')
	}
	if i == len(b) {
		return whole
	}
	if b[i] != '.' {
		return unknown
	}
	part, unit := 0.0, 1.0
	for i++; i < len(b); i++ {
		if !digit(b[i]) {
			return unknown
		}
		part = part*10 + float64(b[i]-'0')
		unit *= 10
	}
	return whole + part/unit
}
