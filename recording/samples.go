package recording

import (
	"sort"
	"strings"
)

// Labels are a sample's labels. Network namespaces other than the one snag was
// started in carry netns="<inode>"; samples of the own one carry no netns label,
// so that node_exporter's series and snag's are the same series.
type Labels map[string]string

// Point is one sample: Time is when it was read, not when it was due.
type Point struct {
	T Time
	V float64
}

// Series is one metric with one set of labels over time, in base units (seconds,
// bytes, counts, ratios 0–1), named as node_exporter names it where it has it.
type Series struct {
	Name   string
	Labels Labels
	Points []Point // by time
}

// Select returns the series of that name that carry all the labels given, as
// name, value pairs: Select("node_qdisc_drops_total", "device", "eth0").
func (r *Recording) Select(name string, pairs ...string) []Series {
	i := sort.Search(len(r.Series), func(i int) bool { return r.Series[i].Name >= name })
	var out []Series
next:
	for ; i < len(r.Series) && r.Series[i].Name == name; i++ {
		for p := 0; p+1 < len(pairs); p += 2 {
			if r.Series[i].Labels[pairs[p]] != pairs[p+1] {
				continue next
			}
		}
		out = append(out, r.Series[i])
	}
	return out
}

// Span is from the first time that it was measured to the last.
func (s Series) Span() Interval {
	if len(s.Points) == 0 {
		return Interval{}
	}
	return Interval{Start: s.Points[0].T, End: s.Points[len(s.Points)-1].T}
}

// Increase is how much a counter grew over the window, resets counted from
// zero, and whether it was measured at least twice. Not measured is not zero.
func (s Series) Increase() (float64, bool) {
	if len(s.Points) < 2 {
		return 0, false
	}
	sum := 0.0
	for i := 1; i < len(s.Points); i++ {
		d := s.Points[i].V - s.Points[i-1].V
		if d < 0 { // the counter began again
			d = s.Points[i].V
		}
		sum += d
	}
	return sum, true
}

// Steps returns the growth of a counter from each point to the next, at the
// later one's time.
func (s Series) Steps() []Point {
	var out []Point
	for i := 1; i < len(s.Points); i++ {
		d := s.Points[i].V - s.Points[i-1].V
		if d < 0 {
			d = s.Points[i].V
		}
		out = append(out, Point{s.Points[i].T, d})
	}
	return out
}

// Last returns the last value and whether there is one.
func (s Series) Last() (float64, bool) {
	if len(s.Points) == 0 {
		return 0, false
	}
	return s.Points[len(s.Points)-1].V, true
}

// Max returns the greatest value and whether there is one.
func (s Series) Max() (float64, bool) {
	if len(s.Points) == 0 {
		return 0, false
	}
	m := s.Points[0].V
	for _, p := range s.Points[1:] {
		m = max(m, p.V)
	}
	return m, true
}

// Key is the series' identity as text: name{a="b",c="d"}, labels sorted.
func (s Series) Key() string {
	names := make([]string, 0, len(s.Labels))
	for n := range s.Labels {
		names = append(names, n)
	}
	sort.Strings(names)
	var b strings.Builder
	b.WriteString(s.Name)
	b.WriteByte('{')
	for i, n := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(n + `="` + s.Labels[n] + `"`)
	}
	b.WriteByte('}')
	return b.String()
}

// SortSeries puts series in the order that Select needs. Each key is made once: a host with
// 200 network namespaces has 30,000 series.
func SortSeries(s []Series) {
	keys := make([]string, len(s))
	for i := range s {
		keys[i] = s[i].Key()
	}
	sort.Sort(byKey{s, keys})
}

// byKey sorts series with their keys: by name, then by labels.
type byKey struct {
	series []Series
	keys   []string
}

func (b byKey) Len() int { return len(b.series) }

func (b byKey) Less(i, j int) bool {
	if b.series[i].Name != b.series[j].Name {
		return b.series[i].Name < b.series[j].Name
	}
	return b.keys[i] < b.keys[j]
}

func (b byKey) Swap(i, j int) {
	b.series[i], b.series[j] = b.series[j], b.series[i]
	b.keys[i], b.keys[j] = b.keys[j], b.keys[i]
}
