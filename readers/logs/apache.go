package logs

import "bytes"

// apacheError reads "[error] [client 10.0.0.7] (104)Connection reset by peer: …" of Apache 2.2 and
// "[proxy:error] [pid 5:tid 9] [client 10.0.0.7:51234] (111)Connection refused: AH00957: HTTP: attempt
// to connect to 10.0.0.5:8080 (10.0.0.5) failed" of 2.4 (server/log.c, do_errorlog_default).
func (e *entry) apacheError(message []byte) bool {
	if len(message) < 5 || message[0] != '[' {
		return false
	}
	word, rest := token(message)
	if at := bytes.IndexByte(word, ':'); at >= 0 { // the module
		word = word[at+1:]
	}
	l := levelOf(word)
	if l == noLevel {
		return false
	}
	known := false
	for rest = bytes.TrimLeft(rest, " "); len(rest) > 0 && rest[0] == '['; rest = bytes.TrimLeft(rest, " ") {
		word, rest = token(rest)
		if client, ok := bytes.CutPrefix(word, []byte("client ")); ok {
			e.peer, known = client, true
		} else if pid, ok := bytes.CutPrefix(word, []byte("pid ")); ok {
			pid, _, _ = bytes.Cut(pid, []byte(":"))
			e.pid, known = number(pid), true
		}
	}
	const attempt = "attempt to connect to "
	if at := bytes.Index(rest, []byte(attempt)); at >= 0 {
		if to, _ := token(rest[at+len(attempt):]); isAddresses(to) {
			e.peer, e.call, known = to, "connect", true
		}
	}
	if known {
		e.level = l
	}
	return known
}
