// Package rectest reads small recordings that people write by hand, as txtar, for
// the tests of scene, suspects and verdict. Layout of a case:
//
//	Free text: what the case shows.
//	-- manifest --           optional; {"seconds": 30, "symptoms": ["…"], "netns": 1}
//	-- blind --              optional; measures that were not taken, one a line:
//	drops.socket             unavailable; "drops.socket lost=30 late=2.5" makes it partial
//	-- samples --            name{label="v"} then values, one per second from the start:
//	node_netstat_Udp_RcvbufErrors{netns="7"} 0 0 5 5     "_" is a second without a sample,
//	node_softnet_dropped_total{cpu="0"} 0+10x30          "a+bxN" is a, a+b … N steps more
//	-- sockets --            any table: one JSON row a line, with t in seconds from the start
//	{"t": 0, "netns": 1, "proto": "udp", "local": "10.0.0.1:5004", …}
//	{"t": "0..30", "drops": "100+50x", …}     one row per second; "a+bx" grows by b per second
//	-- baseline/sockets --   any section of the recording that it is compared with
//	-- earlier/sockets --    any section of an earlier time of the host, as snag record has it
//	-- want --               read by the caller
//
// Times in t, end, since, start and max_at that are under 1e9 are seconds from the start
// of the window (fractions allowed). All measures of a live host count as taken unless
// blind; those of files (pcap, sides, log, trace) where the section measured names them.
package rectest

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/txtar"

	"snag/recording"
)

// Start is when every written recording begins.
const Start recording.Time = 1_760_000_000_000_000_000

// Case is one written case.
type Case struct {
	Recording *recording.Recording
	About     string
	// Files holds the sections that are not part of the recording, by name.
	Files map[string]string
}

// Load reads a case from a file.
func Load(path string) (*Case, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c, err := Parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// Parse reads a case. An unknown section is kept in Files, so the caller must
// demand those that it needs.
func Parse(b []byte) (*Case, error) {
	return parse(txtar.Parse(b))
}

// split takes the sections of another recording out of the rest; nil: there are none.
func split(ar *txtar.Archive, prefix string) (own, other *txtar.Archive) {
	own = &txtar.Archive{Comment: ar.Comment}
	for _, f := range ar.Files {
		name, ok := strings.CutPrefix(f.Name, prefix)
		if !ok {
			own.Files = append(own.Files, f)
			continue
		}
		if other == nil {
			other = &txtar.Archive{}
		}
		other.Files = append(other.Files, txtar.File{Name: name, Data: f.Data})
	}
	return own, other
}

// compared is the recording of the sections of one prefix; nil: there are none.
func compared(ar *txtar.Archive, what string) (*recording.Recording, error) {
	if ar == nil {
		return nil, nil
	}
	c, err := parse(ar)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	for name := range c.Files {
		return nil, fmt.Errorf("%s: no section %q in a recording", what, name)
	}
	return c.Recording, nil
}

func parse(whole *txtar.Archive) (*Case, error) {
	ar, good := split(whole, "baseline/")
	ar, before := split(ar, "earlier/")
	r := &recording.Recording{Manifest: recording.Manifest{
		Version: recording.Version, Snag: "test", Host: "lab", Kernel: "6.18.0", CPUs: 2, PageSize: 4096,
		Start: Start, End: Start.Add(30e9), SelfPID: 999999, Netns: 1,
	}}
	c := &Case{Recording: r, About: strings.TrimSpace(string(ar.Comment)), Files: map[string]string{}}
	for _, f := range ar.Files {
		if f.Name == "manifest" {
			if err := manifest(r, f.Data); err != nil {
				return nil, err
			}
		}
	}
	covered := map[string]recording.Coverage{}
	for _, m := range recording.Measures {
		covered[m] = recording.Coverage{Probe: m, State: recording.CoverageOK, Since: r.Manifest.Start}
		if recording.OfFiles(m) { // a case of files says so, in its section measured
			covered[m] = recording.Coverage{Probe: m, State: recording.CoverageOff, Why: "no file was read"}
		}
	}
	covered[recording.Trace] = recording.Coverage{Probe: recording.Trace, State: recording.CoverageOff, Why: "no trace was read"}
	for _, f := range ar.Files {
		var err error
		switch {
		case f.Name == "manifest":
		case f.Name == "blind":
			err = blind(covered, f.Data)
		case f.Name == "measured":
			err = measured(covered, f.Data, r.Manifest.Start)
		case f.Name == "samples":
			err = samples(r, f.Data)
		case slices.Contains(recording.TableNames(), f.Name):
			err = rows(r, f.Name, f.Data)
		default:
			c.Files[f.Name] = string(f.Data)
		}
		if err != nil {
			return nil, fmt.Errorf("section %s: %w", f.Name, err)
		}
	}
	for _, m := range append(slices.Clone(recording.Measures), recording.Trace) {
		r.Coverage = append(r.Coverage, covered[m])
	}
	recording.SortSeries(r.Series)
	var err error
	if r.Baseline, err = compared(good, "baseline"); err != nil {
		return nil, err
	}
	one, err := compared(before, "earlier")
	if err != nil {
		return nil, err
	}
	if one != nil {
		r.Earlier = append(r.Earlier, one)
	}
	return c, nil
}

// measured are measures, a line each, that were taken besides the usual ones.
func measured(covered map[string]recording.Coverage, b []byte, since recording.Time) error {
	for _, m := range strings.Fields(string(b)) {
		if _, ok := covered[m]; !ok {
			return fmt.Errorf("no measure %q: see recording.Measures", m)
		}
		covered[m] = recording.Coverage{Probe: m, State: recording.CoverageOK, Since: since}
	}
	return nil
}

func manifest(r *recording.Recording, b []byte) error {
	var extra struct{ Seconds float64 }
	if err := json.Unmarshal(b, &extra); err != nil {
		return err
	}
	if err := json.Unmarshal(b, &r.Manifest); err != nil {
		return err
	}
	if extra.Seconds > 0 {
		r.Manifest.End = at(extra.Seconds)
	}
	if s := r.Manifest.Since; s != 0 && s < 1e9 && s > -1e9 {
		r.Manifest.Since = at(float64(s))
	}
	return nil
}

func at(seconds float64) recording.Time {
	return Start + recording.Time(math.Round(seconds*1e9))
}

func lines(b []byte) []string {
	var out []string
	for _, l := range strings.Split(string(b), "\n") {
		if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "#") {
			out = append(out, l)
		}
	}
	return out
}

func blind(covered map[string]recording.Coverage, b []byte) error {
	for _, l := range lines(b) {
		f := strings.Fields(l)
		matched := false
		for m, c := range covered {
			if m != f[0] && !strings.HasPrefix(m, f[0]+".") {
				continue
			}
			matched = true
			c.State, c.Why, c.Cure = recording.CoverageUnavailable, "not measured in this case", "measure it"
			for _, kv := range f[1:] {
				k, v, _ := strings.Cut(kv, "=")
				n, err := strconv.ParseFloat(v, 64)
				if err != nil {
					return fmt.Errorf("%q: %w", l, err)
				}
				c.State, c.Why = recording.CoveragePartial, "lost or late in this case"
				switch k {
				case "lost":
					c.Lost = uint64(n)
				case "late":
					c.Late = n
				default:
					return fmt.Errorf("%q: want lost= or late=", l)
				}
			}
			covered[m] = c
		}
		if !matched {
			return fmt.Errorf("no measure %q: see recording.Measures", f[0])
		}
	}
	return nil
}

var (
	seriesLine = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{([^}]*)\})?\s+(.+)$`)
	labelPair  = regexp.MustCompile(`([a-zA-Z_][a-zA-Z0-9_]*)="([^"]*)"`)
	growth     = regexp.MustCompile(`^(-?[0-9.]+(?:e[0-9]+)?)([+-][0-9.]+)x([0-9]*)$`)
)

func samples(r *recording.Recording, b []byte) error {
	for _, l := range lines(b) {
		m := seriesLine.FindStringSubmatch(l)
		if m == nil {
			return fmt.Errorf("%q: want name{label=\"v\"} values", l)
		}
		s := recording.Series{Name: m[1], Labels: recording.Labels{}}
		for _, p := range labelPair.FindAllStringSubmatch(m[2], -1) {
			s.Labels[p[1]] = p[2]
		}
		second := 0
		add := func(v float64) {
			s.Points = append(s.Points, recording.Point{T: at(float64(second)), V: v})
			second++
		}
		for _, w := range strings.Fields(m[3]) {
			if w == "_" {
				second++
				continue
			}
			if g := growth.FindStringSubmatch(w); g != nil {
				a, _ := strconv.ParseFloat(g[1], 64)
				d, _ := strconv.ParseFloat(g[2], 64)
				n, err := strconv.Atoi(g[3])
				if err != nil {
					return fmt.Errorf("%q: how many steps? a+bxN", w)
				}
				for i := 0; i <= n; i++ {
					add(a + d*float64(i))
				}
				continue
			}
			v, err := strconv.ParseFloat(w, 64)
			if err != nil {
				return fmt.Errorf("%q: %w", l, err)
			}
			add(v)
		}
		r.Series = append(r.Series, s)
	}
	return nil
}

func rows(r *recording.Recording, table string, b []byte) error {
	for _, l := range lines(b) {
		var row map[string]any
		dec := json.NewDecoder(strings.NewReader(l))
		dec.UseNumber()
		if err := dec.Decode(&row); err != nil {
			return fmt.Errorf("%q: %w", l, err)
		}
		from, to := 0.0, 0.0
		if s, ok := row["t"].(string); ok {
			if _, err := fmt.Sscanf(strings.Replace(s, "..", " ", 1), "%f %f", &from, &to); err != nil {
				return fmt.Errorf("%q: t wants \"from..to\"", l)
			}
		} else if n, ok := row["t"].(json.Number); ok {
			from, _ = n.Float64()
			to = from
		}
		for i := 0; from+float64(i) <= to; i++ {
			one := expand(row, i).(map[string]any)
			if table != "stacks" {
				one["t"] = int64(at(from + float64(i)))
			}
			times := []string{"end", "since", "start", "max_at"}
			if table == "streams" {
				times = append(times, "asked", "first", "last")
			}
			for _, k := range times {
				if n, ok := one[k].(json.Number); ok {
					if f, _ := n.Float64(); f < 1e9 {
						one[k] = int64(at(f))
					}
				}
			}
			text, err := json.Marshal(one)
			if err != nil {
				return err
			}
			v, err := recording.DecodeStrict(table, text)
			if err != nil {
				return fmt.Errorf("%q: %w", l, err)
			}
			r.Add(v)
		}
	}
	return nil
}

// expand replaces "a+bx" by its i-th value, at any depth.
func expand(v any, i int) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = expand(e, i)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for k, e := range v {
			out[k] = expand(e, i)
		}
		return out
	case string:
		if g := growth.FindStringSubmatch(v); g != nil {
			a, _ := strconv.ParseFloat(g[1], 64)
			d, _ := strconv.ParseFloat(g[2], 64)
			return a + d*float64(i)
		}
	}
	return v
}
