package logs

import (
	"bytes"
)

// accessLine reads what of an HTTP access log's line is known: the request and status
// behind it, who asked, and, where the format has them, how long the request and the
// upstream took. message is the line from its beginning.
func (e *entry) accessLine(line []byte) bool {
	open, end := quoted(line)
	if open < 0 || !isRequest(line[open+1:end], open >= 2 && line[open-2] == ']') {
		return false
	}
	rest := line[end+1:]
	word, rest := token(rest)
	if len(word) != 3 || number(word) < 100 || number(word) > 599 {
		return false
	}
	e.request, e.status = true, number(word)
	if peer, _ := token(line); hostName(peer) && e.peer == nil {
		e.peer = peer
	}
	e.timings(rest)
	return true
}

// quoted is the first text in quotes that holds an HTTP request, or the first at all.
func quoted(line []byte) (open, end int) {
	open = bytes.IndexByte(line, '"')
	if open < 0 {
		return -1, -1
	}
	end = stringEnd(line, open)
	if end < 0 {
		return -1, -1
	}
	return open, end
}

// isRequest tells "GET / HTTP/1.1", and, right behind the date, what was no HTTP at all
// ("-", bytes of TLS).
func isRequest(b []byte, dated bool) bool {
	at := bytes.LastIndexByte(b, ' ')
	if at >= 0 && bytes.HasPrefix(b[at+1:], []byte("HTTP/")) {
		return true
	}
	return dated && (len(b) == 0 || string(b) == "-" || bytes.HasPrefix(b, []byte(`\x`)))
}

// token takes the next word off, in quotes or brackets or without.
func token(b []byte) (word, rest []byte) {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') { // bytes.TrimLeft takes an eighth of the reading
		b = b[1:]
	}
	if len(b) == 0 {
		return nil, nil
	}
	switch b[0] {
	case '"':
		if end := stringEnd(b, 0); end > 0 {
			return b[1:end], b[end+1:]
		}
	case '[':
		if end := bytes.IndexByte(b, ']'); end > 0 {
			return b[1:end], b[end+1:]
		}
	}
	end := bytes.IndexByte(b, ' ')
	if end < 0 {
		return b, nil
	}
	if eq := bytes.IndexByte(b[:end], '='); eq > 0 && eq+1 < len(b) && b[eq+1] == '"' { // key="a, b"
		if q := stringEnd(b, eq+1); q > 0 {
			return b[:q+1], b[q+1:]
		}
	}
	return b[:end], b[end+1:]
}

// timings reads what stands behind a request's status: fields with names (rt=0.005
// urt="0.004" upstream=10.0.0.5:80), or, behind the user agent, nginx's own
// $request_time and $upstream_response_time, which have three decimals, and an
// address. Apache's %D has none and is not guessed at.
func (e *entry) timings(rest []byte) {
	var addrs, times []byte
	for len(rest) > 0 {
		// Times of several upstreams stand as "0.001, 0.002" without quotes, too.
		var word []byte
		if word, rest = token(rest); len(word) < shortestTiming {
			continue
		}
		for len(word) > 0 && word[len(word)-1] == ',' && len(rest) > 0 {
			_, after := token(rest)
			from := bytes.Index(rest, bytes.TrimRight(rest[:len(rest)-len(after)], " "))
			word = append(append(append([]byte(nil), word...), ' '), bytes.TrimSpace(rest[from:len(rest)-len(after)])...)
			rest = after
		}
		if eq := bytes.IndexByte(word, '='); eq > 0 && eq < 40 {
			key, value := word[:eq], bytes.Trim(word[eq+1:], `"`)
			switch string(key) {
			case "rt", "request_time", "rqt", "req_time", "reqtime", "time":
				if v := seconds3(value); v >= 0 {
					e.took = v
				}
			case "urt", "upstream_response_time", "ut", "upstream_time", "uresp", "upstime":
				times = value
			case "ua", "upstream", "upstream_addr", "uaddr", "us", "upaddr":
				if isAddresses(value) {
					addrs = value
				}
			}
			continue
		}
		switch {
		case isAddresses(word):
			addrs = word
		case seconds3(firstOf(word)) < 0:
		case e.took < 0:
			e.took = seconds3(word)
		case times == nil:
			times = word
		}
	}
	if times != nil {
		e.addUpstreams(addrs, times)
	}
}

// shortestTiming is an address ("a:1").
const shortestTiming = 3

// firstOf a list with commas.
func firstOf(b []byte) []byte {
	if i := bytes.IndexByte(b, ','); i >= 0 {
		return b[:i]
	}
	return b
}

// seconds3 reads nginx's times: three decimals.
func seconds3(b []byte) float64 {
	if len(b) < 5 || b[len(b)-4] != '.' {
		return unknown
	}
	return decimal(b)
}

// isAddresses tells "10.0.0.5:8080", "[::1]:80", "unix:/run/x.sock", or a list of them.
func isAddresses(b []byte) bool {
	b = firstOf(b)
	if bytes.HasPrefix(b, []byte("unix:")) {
		return len(b) > 5
	}
	at := bytes.LastIndexByte(b, ':')
	if at < 1 || at+1 == len(b) || len(b)-at > 6 || number(b[at+1:]) == 0 {
		return false
	}
	return hostName(bytes.Trim(b[:at], "[]"))
}

// addUpstreams joins the lists of $upstream_addr and $upstream_response_time: groups
// are parted by ", " and by " : " where a request was handed on within nginx. One that
// was not reached has "-".
func (e *entry) addUpstreams(addrs, times []byte) {
	if addrs != nil && times == nil && e.nAsked > 0 || addrs == nil && e.nAsked > 0 && e.asked[0].peer == nil {
		return
	}
	for i := 0; i < mostAsked && (len(addrs) > 0 || len(times) > 0); i++ {
		var addr, took []byte
		addr, addrs = listed(addrs)
		took, times = listed(times)
		if i < e.nAsked { // the other list came first
			a := &e.asked[i]
			if a.peer == nil {
				a.peer = addr
			}
			if a.took < 0 {
				a.took = decimal(took)
			}
			continue
		}
		e.asked[i] = asked{addr, decimal(took)}
		e.nAsked = i + 1
	}
}

func listed(b []byte) (first, rest []byte) {
	for i := 0; i < len(b); i++ {
		switch {
		case b[i] == ',':
			return bytes.TrimSpace(b[:i]), bytes.TrimSpace(b[i+1:])
		case b[i] == ' ' && bytes.HasPrefix(b[i:], []byte(" : ")):
			return bytes.TrimSpace(b[:i]), bytes.TrimSpace(b[i+3:])
		}
	}
	return bytes.TrimSpace(b), nil
}
