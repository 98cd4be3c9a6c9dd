package page

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"snag/recording"
	"snag/suspects/source"
	"snag/suspects/suspect"
	"snag/verdict"
)

// wish is a selector that somebody wants to see, and of whom.
type wish struct {
	selector, about string
	evidence        bool // it stands behind evidence: shown even where nothing moves
}

// wishes are the charts in order of what a reader asks first: what stands behind
// the culprits' evidence, the strongest first, their subjects' own series, those
// of who suffers; then the rest of the verdict, of each suspect the first subject.
// What was suspected and not proved is worth a chart only where nobody is named.
func (b *builder) wishes() []wish {
	var out []wish
	culprits := b.v.With(verdict.Culprit)
	for _, e := range culprits {
		out = append(out, behind(e, 1<<20)...)
		out = append(out, own(e.Subject)...)
		for _, r := range e.Related[:min(len(e.Related), 2)] {
			out = append(out, own(r)...)
		}
	}
	for _, s := range b.v.Symptoms[:min(len(b.v.Symptoms), 2)] {
		out = append(out, own(s.Subject)...)
	}
	rest := []verdict.State{verdict.Contributing, verdict.Consequence, verdict.Risk}
	if len(culprits) == 0 {
		rest = append(rest, verdict.NotSeen)
	}
	seen := map[string]bool{}
	for _, state := range rest {
		for _, e := range b.v.With(state) {
			if e.Subject.Kind == "" || seen[e.Suspect.Name] {
				continue
			}
			seen[e.Suspect.Name] = true
			out = append(out, behind(e, 3)...)
		}
	}
	return append(out, b.mostCalls()...)
}

// behind are the series behind an entry's evidence, at most n.
func behind(e verdict.Entry, n int) []wish {
	var out []wish
	for _, piece := range strongestFirst(e.Evidence) {
		for _, s := range piece.Series {
			if len(out) < n {
				out = append(out, wish{s, e.Subject.Name, true})
			}
		}
	}
	return out
}

func strongestFirst(all []suspect.Evidence) []suspect.Evidence {
	out := append([]suspect.Evidence(nil), all...)
	rank := map[suspect.Side]int{suspect.For: 0, suspect.Against: 10, suspect.Missing: 20}
	sort.SliceStable(out, func(i, j int) bool {
		return rank[out[i].Side]-int(out[i].Grade) < rank[out[j].Side]-int(out[j].Grade)
	})
	return out
}

// own are the series that a subject has, whatever it is suspected of.
func own(sub recording.Subject) []wish {
	l := recording.Labels{}
	if sub.Netns != 0 {
		l["netns"] = strconv.FormatUint(sub.Netns, 10)
	}
	var out []wish
	add := func(labels recording.Labels, names ...string) {
		for _, n := range names {
			out = append(out, wish{selectorOf(n, labels), sub.Name, false})
		}
	}
	switch sub.Kind {
	case recording.KindSocket, recording.KindFlow:
		l["local"] = sub.Local
		if sub.Remote != "" {
			l["remote"] = sub.Remote
		}
		add(l, "sockets.recv_q", "sockets.send_q", "sockets.drops", "sockets.bytes_received", "sockets.bytes_sent", "sockets.rtt")
	case recording.KindListener:
		l["local"] = sub.Local
		add(l, "sockets.recv_q")
		delete(l, "local")
		l["port"] = recording.Port(sub.Local)
		add(l, "connections.opened", "turns.mean")
	case recording.KindProcess:
		add(recording.Labels{"pid": strconv.Itoa(sub.PID)}, "sockets.recv_q", "sockets.send_q", "turns.mean", "processes.cpu", "processes.fds")
		out = append(out, ownCalls(sub.PID, sub.Name)...)
	}
	return out
}

// charts draws what is wished for and was recorded.
func (b *builder) charts() []Chart {
	out := b.segmentCharts()
	if out == nil {
		out = []Chart{}
	}
	seen := map[string]bool{}
	left := 0
	for _, w := range b.wishes() {
		s, err := parseSelector(w.selector)
		if err != nil || seen[w.selector] {
			continue
		}
		seen[w.selector] = true
		c, ok := b.chart(s)
		if !ok || !w.evidence && c.Flat || isDrawn(out, c) {
			continue
		}
		if len(out) == b.limits.Charts {
			left++
			continue
		}
		c.About = w.about
		out = append(out, c)
	}
	if left > 0 {
		b.leaveOut("%d charts", left)
	}
	return out
}

// isDrawn reports whether a chart would show what one that is there shows: a
// process' queue is often that of its one socket.
func isDrawn(have []Chart, c Chart) bool {
	for _, h := range have {
		if h.Title == c.Title && slices.Equal(h.Lines[0].T, c.Lines[0].T) && slices.Equal(h.Lines[0].V, c.Lines[0].V) {
			return true
		}
	}
	return false
}

func (b *builder) chart(s selector) (Chart, bool) {
	c := Chart{ID: s.text, Title: titleOf(s.name), Unit: unitOf(s.name)}
	if strings.Contains(s.name, ".") {
		col, known := source.Columns[s.name]
		if !known {
			return c, false
		}
		c.Title, c.Unit = col.Title, col.Unit
		c.Lines = b.rows(s)
		if b.listens(s) {
			c.Title, c.Unit = map[string]string{"sockets.recv_q": "connections waiting to be accepted", "sockets.send_q": "most that may wait"}[s.name], "connections"
		}
		if kind := s.labels["kind"]; kind != "" {
			c.Title = strings.ReplaceAll(kind, "-", " ") + ": " + c.Title
		}
		if s.labels["reason"] != "" {
			c.Title += ": " + s.labels["reason"]
		}
		if len(c.Lines) == 1 && s.labels["local"] != "" {
			c.Lines[0].Label = "" // of the subject itself
		}
	} else {
		c.Lines = b.samples(s)
	}
	c.Flat = true
	moves := strings.HasSuffix(c.Unit, "/s") || c.Unit == "ratio" // a steady rate is no standstill
	var kept []Line
	for _, l := range c.Lines {
		if len(l.T) < 2 {
			continue
		}
		kept = append(kept, thin(l, b.limits.Points))
		for _, v := range l.V {
			c.Flat = c.Flat && v == l.V[0] && (v == 0 || !moves)
		}
	}
	sort.SliceStable(kept, func(i, j int) bool { return peak(kept[i]) > peak(kept[j]) })
	c.More = max(0, len(kept)-b.limits.Lines)
	c.Lines = kept[:len(kept)-c.More]
	return c, len(c.Lines) > 0
}

// titleOf makes a title of a series' name: "Udp RcvbufErrors".
func titleOf(name string) string {
	if rest, ok := strings.CutPrefix(name, "node_netstat_"); ok {
		return strings.Replace(rest, "_", " ", 1)
	}
	t := strings.TrimPrefix(strings.TrimPrefix(name, "node_"), "snag_")
	for _, end := range []string{"_total", "_seconds", "_bytes"} {
		t = strings.TrimSuffix(t, end)
	}
	return strings.ReplaceAll(t, "_", " ")
}

// thin keeps at most n points, of each group the greatest: what hurts is a peak.
func thin(l Line, n int) Line {
	if len(l.T) <= n {
		return l
	}
	out := Line{Label: l.Label}
	for i := 0; i < n; i++ {
		from, to := i*len(l.T)/n, (i+1)*len(l.T)/n
		at := from
		for j := from; j < to; j++ {
			if l.V[j] > l.V[at] {
				at = j
			}
		}
		out.T, out.V = append(out.T, l.T[at]), append(out.V, l.V[at])
	}
	return out
}

func peak(l Line) float64 {
	most := math.Inf(-1)
	for _, v := range l.V {
		most = max(most, v)
	}
	return most
}

// round keeps six digits: more would only make the page larger.
func round(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	if err != nil {
		return v
	}
	return r
}

func (b *builder) leaveOut(format string, args ...any) {
	b.left = append(b.left, fmt.Sprintf(format, args...))
}
