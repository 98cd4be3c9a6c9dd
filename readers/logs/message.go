package logs

import (
	"bytes"
)

// tell reads a line's own message: of the servers that are known, and of what calls
// that failed are told by in every language.
func (e *entry) tell(message []byte) {
	if len(message) > mostTold {
		message = message[:mostTold]
	}
	switch {
	case e.accessLine(message), e.rtmpLine(message):
		return
	case e.nginxError(message), e.apacheError(message):
	case e.memberLine(message):
		return
	default:
		e.level = max(e.level, levelAt(message))
	}
	e.failure(message)
	if e.what == "" && e.level == wrong {
		e.what = failure
	}
}

// mostTold bytes of a message are looked at: what follows are dumps.
const mostTold = 8 << 10

// levelAt finds the level's word among the first of a message.
func levelAt(message []byte) level {
	for range 5 {
		var word []byte
		word, message = token(message)
		if word == nil {
			return noLevel
		}
		if l := levelOf(bytes.Trim(word, "[]():<>,|")); l != noLevel {
			return l
		}
		if at := bytes.Index(word, []byte("level=")); at >= 0 {
			return levelOf(bytes.Trim(word[at+len("level="):], `"`))
		}
	}
	return noLevel
}

// levelOf reads the words of loggers.
func levelOf(word []byte) level {
	if len(word) < 3 || len(word) > 9 {
		return noLevel
	}
	var lower [9]byte
	for i, c := range word {
		lower[i] = c | 0x20
	}
	switch string(lower[:len(word)]) {
	case "error", "err", "severe", "fatal", "crit", "critical", "alert", "emerg", "panic":
		return wrong
	case "warn", "warning":
		return warning
	case "info", "notice", "debug", "trace", "fine", "config":
		return info
	}
	return noLevel
}

// failures are what calls that failed are told by: the C library's words (strerror(3)),
// which most programs print, those of Go (lower case, net and syscall) and Java.
var failures = []struct {
	text        string
	what, errno string
}{
	{"onnection reset", reset, "ECONNRESET"},
	{"roken pipe", brokenPipe, "EPIPE"},
	{"onnection refused", refused, "ECONNREFUSED"},
	{"oo many open files", noFiles, "EMFILE"},
	{"o route to host", failure, "EHOSTUNREACH"},
	{"etwork is unreachable", failure, "ENETUNREACH"},
	{"prematurely closed", closedEarly, ""},
	{"onnection timed out", timeout, "ETIMEDOUT"},
	{"timed out", timeout, ""},
	{"i/o timeout", timeout, ""},
	{"deadline exceeded", timeout, ""},
}

// failure finds what failed in a message, and of whom.
func (e *entry) failure(message []byte) {
	for _, f := range failures {
		if !bytes.Contains(message, []byte(f.text)) {
			continue
		}
		e.what, e.errno = f.what, f.errno
		if f.what == timeout && bytes.Contains(message, []byte("upstream timed out")) {
			e.errno = "" // nginx's own timer, in the words of ETIMEDOUT
		}
		if e.level == noLevel {
			e.level = wrong
		}
		if e.peer == nil {
			e.goFlow(message)
		}
		return
	}
}

// goFlow reads "read tcp 10.0.0.1:80->10.0.0.2:4711: read: connection reset by peer",
// and "dial tcp 10.0.0.2:80: connect: connection refused" (net.OpError of Go).
func (e *entry) goFlow(message []byte) {
	for _, call := range []string{"read", "write", "dial"} {
		at := bytes.Index(message, []byte(call+" tcp "))
		if at < 0 {
			continue
		}
		flow, _ := token(message[at+len(call)+5:])
		flow = bytes.TrimSuffix(flow, []byte(":"))
		local, remote, both := bytes.Cut(flow, []byte("->"))
		if !both {
			local, remote = nil, flow
		}
		if isAddresses(remote) {
			e.local, e.peer = local, remote
			e.call = map[string]string{"read": "recv", "write": "send", "dial": "connect"}[call]
		}
		return
	}
}

// memberLine reads what memberlist and serf say of the members of a cluster (Consul,
// Nomad, Alertmanager): hashicorp/memberlist state.go, hashicorp/serf serf.go.
func (e *entry) memberLine(message []byte) bool {
	at := bytes.Index(message, []byte("memberlist: "))
	if at < 0 {
		if at = bytes.Index(message, []byte("serf: ")); at < 0 {
			return false
		}
	}
	_, text, _ := bytes.Cut(message[at:], []byte(": "))
	word := func(after string) []byte {
		w, _ := token(text[len(after):])
		return bytes.Trim(w, ",:()")
	}
	has := func(begin string) bool { return bytes.HasPrefix(text, []byte(begin)) }
	switch {
	case has("Suspect ") && bytes.Contains(text, []byte(" has failed")):
		e.what, e.member = memberSuspect, word("Suspect ")
	case has("Marking ") && bytes.Contains(text, []byte(" as failed")):
		e.what, e.member = memberFailed, word("Marking ")
	case has("EventMemberFailed: "):
		e.what, e.member = memberFailed, word("EventMemberFailed: ")
	case has("EventMemberJoin: "):
		e.what, e.member = memberAlive, word("EventMemberJoin: ")
	case has("EventMemberLeave: "):
		e.what, e.member = memberLeft, word("EventMemberLeave: ")
	case has("Refuting a suspect message"), has("Refuting a dead message"):
		e.what = memberSuspect
		if at := bytes.Index(text, []byte("from: ")); at >= 0 {
			e.member = bytes.Trim(firstWord(text[at+6:]), ",:()")
		}
	case has("Was able to reach ") && bytes.Contains(text, []byte("but not UDP")):
		e.what, e.member = failure, word("Was able to reach ")
	case has("Was able to connect to ") && bytes.Contains(text, []byte("UDP probes failed")):
		e.what, e.member = failure, word("Was able to connect to ")
	case bytes.Contains(message, []byte("[ERR")):
		e.what = failure
	default:
		e.level = max(e.level, levelAt(message))
		return true
	}
	e.level = max(e.level, levelAt(message), warning)
	return true
}

func firstWord(b []byte) []byte {
	w, _ := token(b)
	return w
}
