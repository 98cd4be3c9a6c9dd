package logs

import "bytes"

// nginxError reads "[error] 12#12: *45 recv() failed (104: Connection reset by peer)
// while reading response header from upstream, client: 10.0.0.7, server: _, request:
// "GET / HTTP/1.1", upstream: "http://10.0.0.5:8080/", host: "x"" (ngx_log.c,
// ngx_http_log_error_handler), and the same of its RTMP and stream modules.
func (e *entry) nginxError(message []byte) bool {
	if len(message) < 10 || message[0] != '[' {
		return false
	}
	word, rest := token(message)
	l := levelOf(word)
	if l == noLevel {
		return false
	}
	id, rest := token(rest)
	hash := bytes.IndexByte(id, '#')
	if hash <= 0 || number(id[:hash]) == 0 || id[len(id)-1] != ':' {
		return false
	}
	e.level, e.pid = l, number(id[:hash])
	e.process = []byte("nginx")
	upstream := valueOf(rest, `, upstream: "`, '"')
	client := valueOf(rest, ", client: ", ',')
	e.local = valueOf(rest, ", server: ", ',')
	if !isAddresses(e.local) {
		e.local = nil // the name of a virtual host
	}
	e.peer = client
	// Which of both sides it is about: "while reading response header from upstream",
	// "while connecting to upstream" and so on (ngx_http_upstream.c sets log->action).
	if upstream != nil && bytes.Contains(rest, []byte(" upstream")) && !bytes.Contains(rest, []byte("to client")) {
		e.peer, e.local = addressOf(upstream), nil
	}
	switch {
	case bytes.Contains(rest, []byte("connect() failed")), bytes.Contains(rest, []byte("connecting to upstream")):
		e.call = "connect"
	case bytes.Contains(rest, []byte("accept4() failed")), bytes.Contains(rest, []byte("accept() failed")):
		e.call = "accept"
	case bytes.Contains(rest, []byte("recv() failed")), bytes.Contains(rest, []byte("readv() failed")):
		e.call = "recv"
	case bytes.Contains(rest, []byte("send() failed")), bytes.Contains(rest, []byte("writev() failed")), bytes.Contains(rest, []byte("sendfile() failed")):
		e.call = "send"
	}
	e.rtmpEvent(rest)
	return true
}

// valueOf is what stands behind a name, up to an end; nil where the name is not there.
func valueOf(b []byte, name string, end byte) []byte {
	at := bytes.Index(b, []byte(name))
	if at < 0 {
		return nil
	}
	b = b[at+len(name):]
	if i := bytes.IndexByte(b, end); i >= 0 {
		b = b[:i]
	}
	return b
}

// addressOf takes the address out of "http://10.0.0.5:8080/path".
func addressOf(url []byte) []byte {
	if bytes.HasPrefix(url, []byte("http://unix:")) || bytes.HasPrefix(url, []byte("fastcgi://unix:")) {
		_, rest, _ := bytes.Cut(url, []byte("://"))
		return rest
	}
	if _, rest, ok := bytes.Cut(url, []byte("://")); ok {
		url = rest
	}
	addr, _, _ := bytes.Cut(url, []byte("/"))
	return addr
}

// rtmpEvent reads what nginx-rtmp-module logs as info in the error log:
// "publish: name='cam1' args=” type=live silent=0", "play: name='cam1' …",
// "connect: app='live' …", "disconnect", with "client: 10.0.0.7".
func (e *entry) rtmpEvent(rest []byte) {
	for _, r := range []struct{ text, what string }{
		{" publish: name='", published}, {" play: name='", play}, {" deleteStream", stop}, {" connect: app='", connect}, {" disconnect", disconnect},
	} {
		at := bytes.Index(rest, []byte(r.text))
		if at < 0 || at > 60 {
			continue
		}
		e.what = r.what
		if r.text[len(r.text)-1] == '\'' && r.what != connect {
			e.stream, _, _ = bytes.Cut(rest[at+len(r.text):], []byte("'"))
		}
		return
	}
}

// rtmpLine reads nginx-rtmp-module's access log, one line for each connection when it
// ends (ngx_rtmp_log_module.c):
//
//	10.0.0.7 [01/Mar/2026:12:00:00 +0000] PUBLISH "live" "cam1" "key=…" - 812345 4321 "" "FMLE/3.0" (1m 5s)
//
// The bytes are what the server received and what it sent.
func (e *entry) rtmpLine(line []byte) bool {
	end := bytes.IndexByte(line, ']')
	if end < 0 || end+2 >= len(line) {
		return false
	}
	command, rest := token(line[end+1:])
	switch string(command) {
	case "PUBLISH", "PLAY", "PUBLISH+PLAY", "NONE":
	default:
		return false
	}
	app, rest := token(rest)
	name, rest := token(rest)
	_, rest = token(rest) // its arguments: keys
	dash, rest := token(rest)
	in, rest := token(rest)
	out, rest := token(rest)
	if string(dash) != "-" || !digits(in) || !digits(out) {
		return false
	}
	e.peer, _ = token(line)
	e.session, e.what = true, disconnect
	e.in, e.out = int64(number(in)), int64(number(out))
	if string(command) == "PUBLISH" || string(command) == "PUBLISH+PLAY" {
		e.what = unpublished
	} else if string(command) == "PLAY" {
		e.what = stop
	}
	if len(name) > 0 {
		e.stream = name
		if len(app) > 0 {
			e.stream = append(append(append(make([]byte, 0, len(app)+len(name)+1), app...), '/'), name...)
		}
	}
	if open := bytes.LastIndexByte(rest, '('); open >= 0 {
		e.lasted = readableTime(bytes.TrimRight(rest[open+1:], ")\r "))
	}
	return true
}

func digits(b []byte) bool {
	for _, c := range b {
		if !digit(c) {
			return false
		}
	}
	return len(b) > 0
}

// readableTime reads "1d 2h 3m 4s", seconds.
func readableTime(b []byte) float64 {
	sum := 0.0
	for len(b) > 0 {
		var word []byte
		word, b = token(b)
		if len(word) < 2 || !digits(word[:len(word)-1]) {
			return unknown
		}
		unit := map[byte]float64{'d': 86400, 'h': 3600, 'm': 60, 's': 1}[word[len(word)-1]]
		if unit == 0 {
			return unknown
		}
		sum += unit * float64(number(word[:len(word)-1]))
	}
	return sum
}
