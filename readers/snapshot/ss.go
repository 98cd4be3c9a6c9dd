package snapshot

import (
	"regexp"
	"strconv"
	"strings"

	"snag/recording"
)

// mostSockets of one output are kept.
const mostSockets = 20_000

// states are ss's names of states as the sockets probe has them.
var states = map[string]string{
	"ESTAB": "ESTABLISHED", "SYN-SENT": "SYN_SENT", "SYN-RECV": "SYN_RECV", "FIN-WAIT-1": "FIN_WAIT1", "FIN-WAIT-2": "FIN_WAIT2",
	"TIME-WAIT": "TIME_WAIT", "CLOSE-WAIT": "CLOSE_WAIT", "LAST-ACK": "LAST_ACK", "LISTEN": "LISTEN", "CLOSING": "CLOSING", "UNCONN": "UNCONN",
}

// ss reads ss -tiemn and its kin (iproute2 misc/ss.c): a line for each socket, what -i
// adds on lines that begin with a tab.
func (l *look) ss(it item) (bad int) {
	var row *recording.Socket
	var rest strings.Builder
	n := 0
	flush := func() {
		if row != nil {
			l.socket(row, rest.String())
		}
		row = nil
		rest.Reset()
	}
	netid := false
	for line := range lines(it.data) {
		switch {
		case strings.HasPrefix(line, "Netid"), strings.HasPrefix(line, "State"):
			netid = strings.HasPrefix(line, "Netid")
			continue
		case line == "":
			continue
		case line[0] == '\t' || line[0] == ' ' && row != nil && strings.TrimSpace(line) != "" && !startsSocket(line):
			rest.WriteByte(' ')
			rest.WriteString(strings.TrimSpace(line))
			continue
		}
		flush()
		s, more, ok := socketLine(line, netid, it.command)
		switch {
		case !ok:
			bad++
		case s == nil: // of another family
		case n >= mostSockets:
			l.doubt("%s: sockets beyond %d are left out", it.path, mostSockets)
			return bad
		default:
			n++
			s.T = it.t
			row = s
			rest.WriteString(more)
		}
	}
	flush()
	l.counted("sockets.diag", it.t)
	return bad
}

func startsSocket(line string) bool {
	f := strings.Fields(line)
	return len(f) > 0 && states[f[0]] != ""
}

// socketLine reads one line; a nil socket is one that is not of TCP or UDP.
func socketLine(line string, netid bool, command string) (s *recording.Socket, more string, ok bool) {
	f := strings.Fields(line)
	proto := ""
	if netid && len(f) > 0 {
		if proto = f[0]; proto != "tcp" && proto != "udp" {
			return nil, "", true
		}
		f = f[1:]
	}
	if len(f) < 5 || states[f[0]] == "" {
		return nil, "", false
	}
	recv, err1 := strconv.Atoi(f[1])
	send, err2 := strconv.Atoi(f[2])
	if err1 != nil || err2 != nil {
		return nil, "", false
	}
	if proto == "" {
		proto = "tcp"
		if f[0] == "UNCONN" || strings.Contains(command, "-u") && !strings.Contains(command, "t") {
			proto = "udp"
		}
	}
	s = &recording.Socket{Proto: proto, State: states[f[0]], RecvQ: recv, SendQ: send, Local: address(f[3]), Remote: address(f[4])}
	if i := strings.Index(s.Remote, ":0"); s.Remote == "*:0" || i >= 0 && i == len(s.Remote)-2 {
		s.Remote = ""
	}
	at := strings.Index(line, f[4])
	if i := strings.LastIndex(line, " "+f[4]); i >= 0 {
		at = i + 1
	}
	return s, line[at+len(f[4]):], true
}

// address writes ss's address as the sockets probe does: no zone, no stars.
func address(text string) string {
	host, port := text, ""
	if i := strings.LastIndexByte(text, ':'); i >= 0 {
		host, port = text[:i], text[i+1:]
	}
	if i := strings.IndexByte(host, '%'); i >= 0 {
		closing := ""
		if strings.HasSuffix(host, "]") {
			closing = "]"
		}
		host = host[:i] + closing
	}
	if host == "*" { // of both families
		host = "[::]"
	}
	if port == "*" {
		port = "0"
	}
	if host == "[::]" && port == "0" || host == "0.0.0.0" && port == "0" {
		return ""
	}
	return host + ":" + port
}

var (
	owner   = regexp.MustCompile(`\("((?:[^"\\]|\\.)*)",pid=(\d+),fd=(\d+)\)`)
	memory  = regexp.MustCompile(`skmem:\(([^)]*)\)`)
	inode   = regexp.MustCompile(`\bino:(\d+)`)
	cookie  = regexp.MustCompile(`\bsk:([0-9a-f]+)`)
	timer   = regexp.MustCompile(`timer:\((\w+),([0-9.a-z]+)`)
	keyed   = regexp.MustCompile(`\b([a-z_]+):([0-9][0-9.]*)([a-z]*)(?:/([0-9.]+))?`)
	rated   = regexp.MustCompile(`\b(pacing_rate|delivery_rate) ([0-9.]+)([KMGT]?)bps`)
	control = regexp.MustCompile(`(?:^|\s)(cubic|bbr\d?|reno|dctcp|htcp|vegas|westwood|bic|illinois|yeah|nv|cdg|lp|scalable|veno|hybla)\s`)
)

// socket reads what stands behind a socket's addresses, and writes it.
func (l *look) socket(s *recording.Socket, text string) {
	for _, m := range owner.FindAllStringSubmatch(text, 64) {
		pid, _ := strconv.Atoi(m[2])
		fd, _ := strconv.Atoi(m[3])
		s.Owners = append(s.Owners, recording.FDRef{PID: pid, Comm: m[1], FD: fd})
	}
	if len(s.Owners) > 0 {
		l.settled("sockets.owner", s.T)
	}
	if m := inode.FindStringSubmatch(text); m != nil {
		s.Inode, _ = strconv.ParseUint(m[1], 10, 64)
	}
	if m := cookie.FindStringSubmatch(text); m != nil {
		s.Cookie, _ = strconv.ParseUint(m[1], 16, 64)
	}
	if m := timer.FindStringSubmatch(text); m != nil {
		s.Timer = m[1]
	}
	if m := memory.FindStringSubmatch(text); m != nil {
		for _, part := range strings.Split(m[1], ",") {
			i := strings.IndexAny(part, "0123456789")
			if i < 0 {
				continue
			}
			v, _ := strconv.ParseUint(part[i:], 10, 64)
			switch part[:i] {
			case "r":
				s.Rmem = int(min(v, 1<<40))
			case "rb":
				s.RcvBuf = int(min(v, 1<<40))
			case "tb":
				s.SndBuf = int(min(v, 1<<40))
			case "d":
				s.Drops = v
			}
		}
	}
	if s.Proto == "tcp" && s.State != "LISTEN" && strings.Contains(text, "rto:") {
		s.TCP = tcpInfo(text)
		if m := control.FindStringSubmatch(text + " "); m != nil {
			s.Cong = m[1]
		}
	}
	l.out.Append(*s)
}

// tcpInfo reads what ss -i prints of struct tcp_info; its times are milliseconds.
func tcpInfo(text string) *recording.TCPInfo {
	t := &recording.TCPInfo{}
	for _, m := range keyed.FindAllStringSubmatch(owner.ReplaceAllString(memory.ReplaceAllString(text, ""), ""), -1) {
		v, err := strconv.ParseFloat(m[2], 64)
		if err != nil || v > 1e18 {
			continue
		}
		second, _ := strconv.ParseFloat(m[4], 64)
		ms := v / 1000
		switch m[1] {
		case "rtt":
			t.RTT, t.RTTVar = ms, second/1000
		case "rto":
			t.RTO = ms
		case "ato":
			t.ATO = ms
		case "minrtt":
			t.MinRTT = ms
		case "rcv_rtt":
			t.RcvRTT = ms
		case "lastsnd":
			t.LastSnd = ms
		case "lastrcv":
			t.LastRcv = ms
		case "lastack":
			t.LastAck = ms
		case "busy":
			t.Busy = ms
		case "rwnd_limited":
			t.RwndLimited = ms
		case "sndbuf_limited":
			t.SndbufLimited = ms
		case "retrans":
			t.Retrans, t.TotalRetrans = int(v), int(second)
		default:
			if set := tcpCounts[m[1]]; set != nil {
				set(t, uint64(v))
			}
		}
	}
	for _, m := range rated.FindAllStringSubmatch(text, -1) {
		v, _ := strconv.ParseFloat(m[2], 64)
		v *= map[string]float64{"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}[m[3]] / 8
		if m[1] == "pacing_rate" {
			t.PacingRate = v
		} else {
			t.DeliveryRate = v
		}
	}
	return t
}

var tcpCounts = map[string]func(*recording.TCPInfo, uint64){
	"mss": func(t *recording.TCPInfo, v uint64) { t.SndMSS = int(v) }, "cwnd": func(t *recording.TCPInfo, v uint64) { t.Cwnd = int(v) },
	"ssthresh": func(t *recording.TCPInfo, v uint64) { t.Ssthresh = int(v) }, "unacked": func(t *recording.TCPInfo, v uint64) { t.Unacked = int(v) },
	"lost": func(t *recording.TCPInfo, v uint64) { t.Lost = int(v) }, "backoff": func(t *recording.TCPInfo, v uint64) { t.Backoff = int(v) },
	"notsent": func(t *recording.TCPInfo, v uint64) { t.NotSent = int(v) }, "bytes_sent": func(t *recording.TCPInfo, v uint64) { t.BytesSent = v },
	"bytes_acked": func(t *recording.TCPInfo, v uint64) { t.BytesAcked = v }, "bytes_received": func(t *recording.TCPInfo, v uint64) { t.BytesReceived = v },
	"bytes_retrans": func(t *recording.TCPInfo, v uint64) { t.BytesRetrans = v }, "segs_out": func(t *recording.TCPInfo, v uint64) { t.SegsOut = v },
	"segs_in": func(t *recording.TCPInfo, v uint64) { t.SegsIn = v }, "data_segs_out": func(t *recording.TCPInfo, v uint64) { t.DataSegsOut = v },
	"data_segs_in": func(t *recording.TCPInfo, v uint64) { t.DataSegsIn = v }, "dsack_dups": func(t *recording.TCPInfo, v uint64) { t.DSACKDups = int(v) },
	"reord_seen": func(t *recording.TCPInfo, v uint64) { t.ReordSeen = int(v) }, "snd_wnd": func(t *recording.TCPInfo, v uint64) { t.SndWnd = int(v) },
	"rcv_space": func(t *recording.TCPInfo, v uint64) { t.RcvSpace = int(v) }, "rcv_wnd": func(t *recording.TCPInfo, v uint64) { t.RcvWnd = int(v) },
	"rcv_ooopack": func(t *recording.TCPInfo, v uint64) { t.RcvOOO = int(v) },
}
