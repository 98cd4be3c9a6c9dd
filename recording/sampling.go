package recording

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Sample adds one value, read at t. Values of one series come in order of time;
// a second one within the same millisecond (the store's grid) is passed over.
func (w *Writer) Sample(t Time, name string, l Labels, v float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.err != nil {
		return
	}
	w.key = appendKey(w.key[:0], name, l)
	s := w.series[string(w.key)] // no allocation: the compiler knows this form
	if s == nil {
		if s = w.newSeries(name, l); s == nil {
			return
		}
	}
	if !w.o.Files && (t < w.manifest.Start.Add(-maxBefore) || t > w.manifest.Start.Add(time.Since(w.opened)+maxAhead)) {
		w.refused.add("samples with a time outside the recording", fmt.Sprintf("%s at %d", name, t))
		return
	}
	ms := millis(t)
	if s.any && ms <= s.last {
		if ms < s.last {
			w.refused.add("samples that came out of order", name)
		}
		return
	}
	s.last, s.any = ms, true
	w.seen(t)
	w.batch = append(w.batch, sample{s, ms, v})
	w.hold(sampleSize)
}

// newSeries takes a series up, or counts why not. The caller holds the lock and
// has left the key in w.key.
func (w *Writer) newSeries(name string, l Labels) *series {
	if why := badSeries(name, l); why != "" {
		w.refused.add(why, name)
		return nil
	}
	if len(w.series) >= w.o.MaxSeries {
		w.refused.add(fmt.Sprintf("samples beyond %d series", w.o.MaxSeries), Series{Name: name, Labels: l}.Key())
		return nil
	}
	own := make(Labels, len(l)) // the caller may use its map again
	for n, v := range l {
		own[strings.Clone(n)] = strings.Clone(v)
	}
	s := &series{name: strings.Clone(name), labels: own}
	w.series[string(w.key)] = s
	return s
}

// appendKey writes a series' identity: name and labels by name, parted by a byte
// that no UTF-8 text has. Labels without a value do not count.
func appendKey(b []byte, name string, l Labels) []byte {
	b = append(b, name...)
	var room [maxLabels]string
	names := room[:0]
	for n, v := range l {
		if v != "" {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	for _, n := range names {
		b = append(b, 0xff)
		b = append(b, n...)
		b = append(b, 0xfe)
		b = append(b, l[n]...)
	}
	return b
}
