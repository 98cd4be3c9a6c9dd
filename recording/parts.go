package recording

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
)

// File is one of the files, or recordings, that a recording was made of (snag read).
type File struct {
	Name   string  `json:"name"`   // as it was given
	Format string  `json:"format"` // as coverage names it: "strace", "recording"
	Host   string  `json:"host,omitempty"`
	First  Time    `json:"first,omitempty"` // of its lines; 0: it has no times
	Last   Time    `json:"last,omitempty"`
	Zone   string  `json:"zone,omitempty"`           // in which times without a zone were read; "" where it has none such
	Offset float64 `json:"offset_seconds,omitempty"` // that was added to its times
	// Doubts are sentences on its clock and its host: what was guessed, and by what.
	Doubts []string `json:"doubts,omitempty"`
}

// HostClock is how the clock of a part's host compares with another's, after its times
// were moved (File.Offset).
type HostClock struct {
	Of    string  `json:"of"`            // whose clock it was compared with: hosts of which this is the same compare with each other
	Bound float64 `json:"bound_seconds"` // how far off its times may still be from that clock's
	By    string  `json:"by"`            // what told it, a sentence
}

// Part is what of a recording belongs together: it is of one host, and its times
// overlap. A recording of one host at one time has none or one.
type Part struct {
	// Keys are those of its rows and samples: the number in the column "part", or
	// the label part; 0 stands for those without.
	Keys []int `json:"keys"`
	// Manifest is the part's own: its host, its window, what is known of its kernel.
	Manifest Manifest `json:"manifest"`
}

// partLabel marks samples of a part, host those of a part's host where all parts
// are shown together.
const (
	partLabel = "part"
	hostLabel = "host"
)

// partHead is how the row of a part begins, before its number.
var partHead = []byte(`{"part":`)

// Part is a sink whose rows and samples are marked with a key, so that they can be
// put into a part of the recording once it is known what belongs together
// (Manifest.Parts). Key 0 marks nothing.
func (w *Writer) Part(key int) Sink {
	if key == 0 {
		return w
	}
	return &partSink{w: w, key: key, label: strconv.Itoa(key)}
}

type partSink struct {
	w     *Writer
	key   int
	label string
}

func (p *partSink) Sample(t Time, name string, l Labels, v float64) {
	p.w.Sample(t, name, withPart(l, p.label), v)
}

func (p *partSink) Append(row Row) { p.w.append(row, p.key) }

// marked puts a key into a row's line.
func marked(line []byte, key int) []byte {
	if key == 0 || len(line) < 2 || line[0] != '{' {
		return line
	}
	out := strconv.AppendInt(append(make([]byte, 0, len(line)+16), partHead...), int64(key), 10)
	if line[1] != '}' {
		out = append(out, ',')
	}
	return append(out, line[1:]...)
}

// unmarked takes the key off a row's line, in place.
func unmarked(line []byte) (int, []byte) {
	rest, ok := bytes.CutPrefix(line, partHead)
	if !ok {
		return 0, line
	}
	i := 0
	for i < len(rest) && i < 9 && rest[i] >= '0' && rest[i] <= '9' {
		i++
	}
	key, err := strconv.Atoi(string(rest[:i]))
	switch {
	case err != nil || i == len(rest):
	case rest[i] == ',':
		rest[i] = '{'
		return key, rest[i:]
	case rest[i] == '}':
		return key, []byte("{}")
	}
	return 0, line
}

// partition puts what is read where it belongs.
type partition struct {
	whole *Recording
	of    map[int]*Recording // by key; nil where there are no two parts
}

func newPartition(r *Recording) *partition {
	p := &partition{whole: r}
	if len(r.Manifest.Parts) < 2 {
		return p
	}
	p.of = map[int]*Recording{}
	for _, part := range r.Manifest.Parts {
		m := part.Manifest
		m.Version, m.Snag, m.Symptoms, m.Since, m.UTCOffset = r.Manifest.Version, r.Manifest.Snag, r.Manifest.Symptoms, r.Manifest.Since, r.Manifest.UTCOffset
		own := &Recording{Dir: r.Dir, Manifest: m}
		r.Parts = append(r.Parts, own)
		for _, k := range part.Keys {
			p.of[k] = own
		}
	}
	return p
}

// part finds whose a key is. What no part has is the first one's.
func (p *partition) part(key int) *Recording {
	if p.of == nil {
		return p.whole
	}
	if r := p.of[key]; r != nil {
		return r
	}
	return p.whole.Parts[0]
}

// all are the recordings that are read into.
func (p *partition) all() []*Recording {
	if p.of == nil {
		return []*Recording{p.whole}
	}
	return p.whole.Parts
}

// split puts series into their parts, each without the mark.
func (p *partition) split(all []Series) {
	if p.of == nil && !slices.ContainsFunc(all, func(s Series) bool { return s.Labels[partLabel] != "" }) {
		p.whole.Series = all
		return
	}
	sets := map[*Recording]*seriesSet{}
	for _, s := range all {
		key, _ := strconv.Atoi(s.Labels[partLabel])
		delete(s.Labels, partLabel)
		r := p.part(key)
		if sets[r] == nil {
			sets[r] = newSeriesSet()
		}
		into := sets[r].series(s.Name, s.Labels)
		into.Points = append(into.Points, s.Points...)
	}
	for r, set := range sets {
		r.Series = set.list(func(name string) string { return name })
	}
}

// unite shows all parts together in the whole: for whoever lists what there is.
// Judging takes the parts.
func (p *partition) unite() {
	if p.of == nil {
		return
	}
	r := p.whole
	names := r.PartNames()
	for i, part := range r.Parts {
		name := names[i]
		for _, s := range part.Series {
			own := maps.Clone(s.Labels)
			if own == nil {
				own = Labels{}
			}
			own[hostLabel] = name
			r.Series = append(r.Series, Series{Name: s.Name, Labels: own, Points: s.Points})
		}
		for _, t := range tables {
			t.each(part, func(row Row) bool {
				if c, ok := row.(Coverage); ok {
					c.Probe += " (" + name + ")"
					row = c
				}
				t.add(r, row)
				return true
			})
		}
	}
	SortSeries(r.Series)
	for _, t := range tables {
		t.tidy(r)
	}
}

// PartNames is what each part is called: its host, else its files, with when it
// begins where another is called the same.
func (r *Recording) PartNames() []string {
	var out []string
	n := map[string]int{}
	for _, p := range r.Parts {
		out = append(out, p.partName())
		n[p.partName()]++
	}
	for i, p := range r.Parts {
		if n[out[i]] > 1 {
			out[i] += " from " + p.Manifest.Start.Wall().Format("15:04:05")
		}
	}
	return out
}

func (r *Recording) partName() string {
	m := r.Manifest
	switch {
	case m.Host != "":
		return m.Host
	case len(m.Files) == 0:
		return "unnamed"
	case len(m.Files) == 1:
		return filepath.Base(m.Files[0].Name)
	}
	return fmt.Sprintf("%s and %d more", filepath.Base(m.Files[0].Name), len(m.Files)-1)
}

// keyedPart is a part with the key that it is packed under.
type keyedPart struct {
	*Recording
	key int
}

// keyed are the recording's parts, or the whole where it has none.
func (r *Recording) keyed() []keyedPart {
	if len(r.Parts) == 0 {
		return []keyedPart{{Recording: r}}
	}
	var out []keyedPart
	for i, p := range r.Parts {
		k := keyedPart{Recording: p}
		if i < len(r.Manifest.Parts) && len(r.Manifest.Parts[i].Keys) > 0 {
			k.key = r.Manifest.Parts[i].Keys[0]
		}
		out = append(out, k)
	}
	return out
}

// markedSeries are all series as they are written.
func (r *Recording) markedSeries() []Series {
	if len(r.Parts) == 0 {
		return r.Series
	}
	var out []Series
	for _, part := range r.keyed() {
		for _, s := range part.Series {
			out = append(out, Series{Name: s.Name, Labels: withPart(s.Labels, strconv.Itoa(part.key)), Points: s.Points})
		}
	}
	return out
}

// withPart is a copy of the labels with a part's mark; "0" is none.
func withPart(l Labels, key string) Labels {
	own := make(Labels, len(l)+1)
	maps.Copy(own, l)
	if key != "0" {
		own[partLabel] = key
	}
	return own
}

// encodeRows writes a table's rows of a part, a line each.
func encodeRows(buf *bytes.Buffer, tb table, part keyedPart) (err error) {
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	tb.each(part.Recording, func(row Row) bool {
		if part.key == 0 {
			err = enc.Encode(row)
			return err == nil
		}
		var line bytes.Buffer
		one := json.NewEncoder(&line)
		one.SetEscapeHTML(false)
		err = one.Encode(row)
		buf.Write(marked(line.Bytes(), part.key))
		return err == nil
	})
	return err
}
