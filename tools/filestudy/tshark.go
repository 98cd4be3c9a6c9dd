package main

import (
	"bytes"
	"context"
	"os/exec"
	"strconv"
	"strings"
)

// fields of each TCP segment, as tshark names them. Of a tunnel's packet it gives several values
// with commas between: the last are the inner ones.
var fields = []string{"frame.time_epoch", "tcp.stream", "ip.src", "ipv6.src", "tcp.srcport", "tcp.flags", "tcp.len", "tcp.window_size_value",
	"tcp.analysis.retransmission", "tcp.analysis.spurious_retransmission", "tcp.analysis.out_of_order", "tcp.analysis.keep_alive", "tcp.analysis.zero_window_probe",
	"ip.dst", "ipv6.dst", "tcp.dstport"}

// Loss and reordering count from so many segments on, and such a share of all.
const (
	fewSegments = 10
	fewOfAll    = 0.005
)

// Flags of TCP (RFC 9293, 3.1).
const (
	fin = 1
	syn = 2
	rst = 4
	ack = 16
)

// segment is one line of tshark's.
type segment struct {
	at                                            float64
	from, to                                      string
	flags, length, window                         int
	again, spurious, outOfOrder, keepAlive, probe bool
}

// stream is what the referee keeps of one connection: by what tshark's lines say, and by nothing of
// snag's.
type stream struct {
	client, server, asks    string // asks: whom the SYN is for
	first, last             float64
	syns                    int
	lastSYN                 float64
	synAck, acked, refused  bool
	asked, answered         float64 // when the client's last data came, the server's last
	open                    bool    // the client's data wait for an answer
	silent                  float64 // the longest wait
	shut                    map[string]float64
	shutFor                 float64
	data, lost, out         int
	clientFIN, reset, ended bool
}

// byTshark tells the classes of a capture by tshark's analysis of its TCP. ok is false where tshark
// is not there, or can't read the file.
func byTshark(ctx context.Context, o options, path string) (map[string]bool, bool) {
	if _, err := exec.LookPath("tshark"); err != nil {
		return nil, false
	}
	args := []string{"-r", path, "-Y", "tcp", "-T", "fields", "-E", "separator=/t"}
	for _, f := range fields {
		args = append(args, "-e", f)
	}
	text, _, err := command(ctx, o.limit, "tshark", args...)
	if err != nil && len(text) == 0 {
		return nil, false
	}
	streams := map[string]*stream{}
	end := 0.0
	for line := range bytes.Lines(text) {
		id, s, ok := parse(strings.TrimRight(string(line), "\r\n"))
		if !ok {
			continue
		}
		end = max(end, s.at)
		if streams[id] == nil {
			streams[id] = &stream{first: s.at, shut: map[string]float64{}}
		}
		streams[id].take(s)
	}
	out := map[string]bool{}
	spared := letInElsewhere(streams)
	lost, reordered, data := 0, 0, 0
	for _, s := range streams {
		s.close(end)
		for class, is := range map[string]bool{
			"unanswered":    s.syns >= 2 && !s.synAck && !s.acked && !s.refused && s.lastSYN-s.first >= 0.9,
			"refused":       s.refused && !spared[s],
			"server silent": s.silent >= 3,
			"window closed": s.shutFor >= 2 || s.shutFor >= 0.5 && s.shutFor >= 0.3*(s.last-s.first),
			"reset":         s.reset,
		} {
			if is {
				out[class] = true
			}
		}
		lost, reordered, data = lost+s.lost, reordered+s.out, data+s.data
	}
	out["loss"] = lost >= fewSegments && float64(lost) >= fewOfAll*float64(data)
	out["reordering"] = reordered >= fewSegments && float64(reordered) >= fewOfAll*float64(data)
	return out, true
}

// letInElsewhere are refused connections whose client was let in at the same port by an address of the
// other family at once: programs try ::1 before 127.0.0.1 (RFC 8305).
func letInElsewhere(streams map[string]*stream) map[*stream]bool {
	out := map[*stream]bool{}
	for _, a := range streams {
		for _, b := range streams {
			if a.refused && b.synAck && port(a.asks) == port(b.asks) && strings.Count(a.asks, ":") > 1 != (strings.Count(b.asks, ":") > 1) && b.first >= a.first && b.first-a.first < 1 {
				out[a] = true
			}
		}
	}
	return out
}

func port(end string) string { return end[strings.LastIndexByte(end, ':')+1:] }

// parse reads a line of tshark's fields.
func parse(line string) (id string, s segment, ok bool) {
	f := strings.Split(line, "\t")
	if len(f) != len(fields) || f[1] == "" {
		return "", s, false
	}
	for i := range f {
		if at := strings.LastIndexByte(f[i], ','); at >= 0 {
			f[i] = f[i][at+1:]
		}
	}
	s.at, _ = strconv.ParseFloat(f[0], 64)
	s.from, s.to = f[2]+f[3]+":"+f[4], f[13]+f[14]+":"+f[15]
	flags, _ := strconv.ParseInt(strings.TrimPrefix(f[5], "0x"), 16, 32)
	s.flags = int(flags)
	s.length, _ = strconv.Atoi(f[6])
	s.window, _ = strconv.Atoi(f[7])
	s.again, s.spurious, s.outOfOrder, s.keepAlive, s.probe = f[8] != "", f[9] != "", f[10] != "", f[11] != "", f[12] != ""
	return f[1], s, s.at > 0
}

func (t *stream) take(s segment) {
	t.last = max(t.last, s.at)
	switch {
	case s.flags&syn != 0 && s.flags&ack == 0:
		if t.client == "" {
			t.client = s.from
		}
		t.syns, t.lastSYN, t.asks = t.syns+1, s.at, s.to
		return
	case s.flags&syn != 0:
		t.synAck, t.server = true, s.from
		return
	}
	if t.client == "" && t.server == "" { // it began before: who speaks first asks
		t.client = s.from
	}
	client := s.from == t.client
	if client && s.flags&ack != 0 && s.flags&rst == 0 {
		t.acked = true
	}
	t.windows(s)
	if s.flags&rst != 0 {
		t.resets(client)
		return
	}
	if s.flags&fin != 0 && client {
		t.clientFIN = true
		t.wait(s.at)
	}
	if s.length == 0 || s.keepAlive || s.probe {
		return
	}
	t.data++
	if s.again {
		if !s.spurious {
			t.lost++
		}
		return
	}
	if s.spurious {
		return
	}
	if s.outOfOrder {
		t.out++
	}
	if client {
		t.asked, t.open = s.at, true
		return
	}
	t.wait(s.at)
	t.answered, t.open = s.at, false
}

// wait ends a wait for an answer at a time.
func (t *stream) wait(at float64) {
	if t.open {
		t.silent = max(t.silent, at-t.asked)
	}
	t.open = false
}

// windows notes from when to when an end offered no window.
func (t *stream) windows(s segment) {
	since, shut := t.shut[s.from]
	switch {
	case s.flags&(rst|fin) != 0:
	case s.window == 0 && !shut:
		t.shut[s.from] = s.at
	case s.window != 0 && shut:
		t.shutFor += s.at - since
		delete(t.shut, s.from)
	}
}

// resets: a refusal, or a reset of the server by which the client loses an answer.
func (t *stream) resets(client bool) {
	switch {
	case t.ended:
	case t.syns > 0 && !t.synAck && !client:
		t.refused = true
	case !client && t.open && !t.clientFIN:
		t.reset = true
	}
	t.wait(t.last)
	t.ended = true
}

// close ends what is open at the capture's end.
func (t *stream) close(end float64) {
	if !t.ended {
		t.wait(end)
	}
	for _, since := range t.shut {
		t.shutFor += t.last - since
	}
}
