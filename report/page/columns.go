package page

import (
	"math"
	"reflect"
	"sort"
	"strconv"
	"strings"

	"snag/recording"
	"snag/scene"
	"snag/suspects/source"
)

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
	field, known := tcpFields[strings.TrimPrefix(name, "sockets.")]
	if row.TCP == nil || !known {
		return 0, false
	}
	v := reflect.ValueOf(*row.TCP).Field(field)
	switch {
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanUint():
		return float64(v.Uint()), true
	}
	return v.Float(), v.CanFloat()
}

// tcpFields are the fields of recording.TCPInfo by their names in the table.
var tcpFields = func() map[string]int {
	out := map[string]int{}
	info := reflect.TypeFor[recording.TCPInfo]()
	for i := range info.NumField() {
		name, _, _ := strings.Cut(info.Field(i).Tag.Get("json"), ",")
		out[name] = i
	}
	return out
}()

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
		if line = finish(line, source.Columns[s.name].Running); len(line.T) > 0 {
			out = append(out, line)
		}
	}
	return out
}

// listens reports whether a selector of a socket's queue is that of a listener,
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
			out = append(out, finish(line, source.Columns[s.name].Running))
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

// finish turns a running total into its growth per second and rounds.
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

// mostCounted of all lines of a chart are counted.
const mostCounted = 10_000_000

// countLines sums the counts of rows second by second: a second of the window
// without a row is one without a count.
func (b *builder) countLines(s selector) []Line {
	seconds := int(math.Ceil(b.r.Length().Seconds()))
	byLabel := map[string][]float64{}
	weight := map[string][]float64{}
	b.eachCount(s, func(t recording.Time, label string, v, of float64) {
		at := int(math.Floor(b.since(t)))
		at = max(0, min(at, seconds-1))
		if seconds <= 0 {
			return
		}
		if byLabel[label] == nil {
			if (len(byLabel)+1)*seconds > mostCounted {
				return // of months, or of so many that nobody tells them apart
			}
			byLabel[label], weight[label] = make([]float64, seconds), make([]float64, seconds)
		}
		switch {
		case source.Columns[s.name].Unit == "s" && of == 0:
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
