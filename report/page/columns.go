package page

import (
	"math"
	"sort"
	"strconv"

	"snag/recording"
	"snag/scene"
)

// column is how one column of a table is drawn over time.
type column struct {
	title, unit string
	running     bool // a running total: drawn as its growth a second
	bad         bool // growth of it hurts
}

// columns of the tables that can be drawn: suspects.Behind names no others.
var columns = map[string]column{
	"sockets.recv_q":         {"receive queue", "bytes", false, false},
	"sockets.send_q":         {"send queue", "bytes", false, false},
	"sockets.drops":          {"drops at the socket", "/s", true, true},
	"sockets.rmem":           {"receive memory in use", "bytes", false, false},
	"sockets.rtt":            {"round-trip time", "s", false, false},
	"sockets.min_rtt":        {"least round-trip time", "s", false, false},
	"sockets.cwnd":           {"congestion window", "segments", false, false},
	"sockets.snd_wnd":        {"the peer's window", "bytes", false, false},
	"sockets.backoff":        {"retransmit timer backed off", "times", false, true},
	"sockets.notsent_bytes":  {"written and not yet sent", "bytes", false, false},
	"sockets.bytes_sent":     {"sent", "bytes/s", true, false},
	"sockets.bytes_acked":    {"acknowledged", "bytes/s", true, false},
	"sockets.bytes_received": {"received", "bytes/s", true, false},
	"sockets.total_retrans":  {"retransmitted", "/s", true, true},
	"sockets.rwnd_limited":   {"held by the peer's window", "ratio", true, true},
	"sockets.sndbuf_limited": {"held by the send buffer", "ratio", true, true},
	"drops.n":                {"packets dropped", "/s", false, true},
	"retransmits.n":          {"segments retransmitted", "/s", false, true},
	"resets.n":               {"resets", "/s", false, true},
	"holds.held":             {"writes held back", "/s", false, true},
	"holds.hold_max":         {"longest hold of a write", "s", false, true},
	"connections.opened":     {"connections opened", "/s", false, false},
	"connections.closed":     {"connections closed", "/s", false, false},
	"connections.failed":     {"connections failed", "/s", false, true},
	"connections.short":      {"connections that lived under 1 s", "/s", false, true},
	"turns.n":                {"requests answered", "/s", false, false},
	"turns.mean":             {"time to answer, mean", "s", false, true},
	"turns.max":              {"time to answer, longest", "s", false, true},
	"errors.n":               {"calls that returned an error", "/s", false, true},
	"threads.run_delay":      {"ready and waiting for a CPU", "ratio", true, true},
	"threads.on_cpu":         {"on a CPU", "ratio", true, false},
	"processes.cpu":          {"CPU time", "ratio", true, false},
	"processes.fds":          {"open descriptors", "", false, false},
	"processes.threads":      {"threads", "", false, false},
	"calls.read_time":        {"time in reads, by descriptor", "ratio", false, true},
	"calls.write_time":       {"time in writes, by descriptor", "ratio", false, true},
	"calls.read_bytes":       {"read, by descriptor", "bytes/s", false, false},
	"calls.write_bytes":      {"written, by descriptor", "bytes/s", false, false},
}

// rows draws the rows that a selector of a table's column stands for.
func (b *builder) rows(s selector) []Line {
	switch table(s.name) {
	case "sockets":
		return b.socketLines(s)
	case "calls":
		return b.callLines(s)
	case "threads", "processes":
		return b.processLines(s)
	}
	return b.countLines(s)
}

func table(name string) string {
	for i := range name {
		if name[i] == '.' {
			return name[:i]
		}
	}
	return ""
}

// socketValue reads a column off a row; false where the row has none.
func socketValue(name string, row recording.Socket) (float64, bool) {
	switch name {
	case "sockets.recv_q":
		return float64(row.RecvQ), true
	case "sockets.send_q":
		return float64(row.SendQ), true
	case "sockets.drops":
		return float64(row.Drops), true
	case "sockets.rmem":
		return float64(row.Rmem), true
	}
	t := row.TCP
	if t == nil {
		return 0, false
	}
	values := map[string]float64{
		"sockets.rtt": t.RTT, "sockets.min_rtt": t.MinRTT, "sockets.cwnd": float64(t.Cwnd), "sockets.snd_wnd": float64(t.SndWnd),
		"sockets.backoff": float64(t.Backoff), "sockets.notsent_bytes": float64(t.NotSent),
		"sockets.bytes_sent": float64(t.BytesSent), "sockets.bytes_acked": float64(t.BytesAcked),
		"sockets.bytes_received": float64(t.BytesReceived), "sockets.total_retrans": float64(t.TotalRetrans),
		"sockets.rwnd_limited": t.RwndLimited, "sockets.sndbuf_limited": t.SndbufLimited,
	}
	v, ok := values[name]
	return v, ok
}

func (b *builder) socketLines(s selector) []Line {
	var out []Line
	netns, tied := s.netns()
	for _, k := range b.s.Sockets {
		f := k.First()
		if tied && f.Netns != netns || !selectsSocket(s, k) {
			continue
		}
		line := Line{Label: socketLabel(f)}
		for _, row := range k.Rows {
			if v, ok := socketValue(s.name, row); ok {
				line.T, line.V = append(line.T, b.since(row.T)), append(line.V, v)
			}
		}
		if line = finish(line, columns[s.name].running); len(line.T) > 0 {
			out = append(out, line)
		}
	}
	return out
}

// listens tells whether a selector of a socket's queue is that of a listener,
// whose queues are connections.
func (b *builder) listens(s selector) bool {
	if s.name != "sockets.recv_q" && s.name != "sockets.send_q" || s.labels["remote"] != "" {
		return false
	}
	netns, _ := s.netns()
	k := b.s.SocketAt(netns, "tcp", s.labels["local"], "")
	return k != nil && k.Listening()
}

func selectsSocket(s selector, k *scene.Socket) bool {
	f := k.First()
	if local, ok := s.labels["local"]; ok {
		return f.Local == local && f.Remote == s.labels["remote"]
	}
	if port, ok := s.labels["port"]; ok {
		return !k.Listening() && recording.Port(f.Local) == port
	}
	for _, p := range k.Owners {
		if pid := s.pid(); pid != 0 && p.Subject.PID == pid {
			return true
		}
	}
	return false
}

func socketLabel(f recording.Socket) string {
	if f.Remote == "" {
		return f.Local
	}
	return f.Local + " → " + f.Remote
}

func (b *builder) processLines(s selector) []Line {
	var out []Line
	for _, p := range b.s.Processes {
		if p.Subject.PID != s.pid() {
			continue
		}
		line := Line{Label: p.Subject.Name}
		for _, row := range p.Rows {
			v, ok := row.CPU, true
			switch s.name {
			case "processes.threads":
				v = float64(row.Threads)
			case "processes.fds":
				if ok = row.FDs != nil; ok {
					v = float64(*row.FDs)
				}
			}
			if ok {
				line.T, line.V = append(line.T, b.since(row.T)), append(line.V, v)
			}
		}
		if table(s.name) == "processes" {
			out = append(out, finish(line, columns[s.name].running))
			continue
		}
		for _, t := range p.Threads {
			line := Line{Label: t.Subject.Comm + " " + strconv.Itoa(t.Subject.TID)}
			for _, row := range t.Rows {
				v := row.OnCPU
				if s.name == "threads.run_delay" {
					v = row.RunDelay
				}
				line.T, line.V = append(line.T, b.since(row.T)), append(line.V, v)
			}
			out = append(out, finish(line, true))
		}
	}
	return out
}

// finish turns a running total into its growth a second and rounds.
func finish(l Line, running bool) Line {
	if running {
		var t, v []float64
		from := 0
		for i := 1; i < len(l.T); i++ {
			span, grown := l.T[i]-l.T[from], l.V[i]-l.V[from]
			if span < shortest {
				continue
			}
			if grown >= 0 { // a total that fell is another's
				if len(t) == 0 { // a rate holds from the sample before
					t, v = append(t, l.T[from]), append(v, grown/span)
				}
				t, v = append(t, l.T[i]), append(v, grown/span)
			}
			from = i
		}
		l.T, l.V = t, v
	}
	for i := range l.V {
		l.V[i] = round(l.V[i])
	}
	return l
}

// countLines sums the counts of rows second by second: a second of the window
// without a row is one without a count.
func (b *builder) countLines(s selector) []Line {
	seconds := int(math.Ceil(b.r.Length().Seconds()))
	byLabel := map[string][]float64{}
	weight := map[string][]float64{}
	b.eachCount(s, func(t recording.Time, label string, v, of float64) {
		at := int(math.Floor(b.since(t)))
		at = max(0, min(at, seconds-1))
		if seconds == 0 {
			return
		}
		if byLabel[label] == nil {
			byLabel[label], weight[label] = make([]float64, seconds), make([]float64, seconds)
		}
		switch {
		case columns[s.name].unit == "s" && of == 0:
			byLabel[label][at] = max(byLabel[label][at], v)
		default:
			byLabel[label][at] += v
			weight[label][at] += of
		}
	})
	var out []Line
	for label, sums := range byLabel {
		line := Line{Label: label}
		for i, v := range sums {
			if w := weight[label][i]; w > 0 {
				v /= w
			}
			end := min(float64(i+1), b.r.Length().Seconds())
			if end-float64(i) < 0.5 && v == 0 && i > 0 {
				break // the last second was cut short: nothing in it is no fall
			}
			if i == 0 { // a count holds for its second
				line.T, line.V = append(line.T, 0), append(line.V, round(v))
			}
			line.T, line.V = append(line.T, round(end)), append(line.V, round(v))
		}
		out = append(out, line)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Label < out[j].Label })
	return out
}
