package recording

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/tsdb/record"
)

// Whatever a table holds, reading it ends, keeps what is whole, and says what is
// not: every line is a row, or is in the damage.
func FuzzTable(f *testing.F) {
	for _, row := range oneOfEach(start, 1) {
		line, err := json.Marshal(row)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(row.Table(), append(append(line, '\n'), line[:len(line)/2]...))
	}
	f.Add("sockets", []byte("null\n\n{}\n[1]\n{\"t\":1e99}\n\x00\x00"))
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		tb := tableNamed(name)
		if tb == nil || tb.name == "coverage" { // rows of one probe are one
			return
		}
		r, err := read(files{manifestFile: []byte(`{"version":1,"end":1}`), packedSamples: nil, tablesDir + "/" + name + ".jsonl": text}, "x", "", current)
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		tb.each(r, func(Row) bool { rows++; return true })
		lines := 0
		for _, l := range bytes.Split(text, []byte{'\n'}) {
			if len(l) > 0 {
				lines++
			}
		}
		if rows > lines || (rows < lines) != (len(r.Damage) > 0) {
			t.Errorf("%d rows of %d lines with damage %q", rows, lines, r.Damage)
		}
	})
}

func FuzzManifest(f *testing.F) {
	b, err := json.Marshal(ended())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"version":2,"snag":"9"}`))
	f.Add([]byte(`{"version":1e9}`))
	f.Add([]byte(`{"version":1,"start":-9223372036854775808,"written":{"rows":{"sockets":-5}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := read(files{manifestFile: b}, "some/where", "", current)
		if err != nil {
			if !strings.Contains(err.Error(), "some/where") {
				t.Errorf("the error names no path: %v", err)
			}
			return
		}
		if r.Manifest.Version != Version || r.Manifest.End == 0 && r.Manifest.Start != 0 {
			t.Errorf("manifest %+v", r.Manifest)
		}
	})
}

func FuzzSeriesLine(f *testing.F) {
	f.Add([]byte(`{"name":"node_load1","labels":{"a":"b"},"t_ms":[1790000000123,1000,1000],"v":[1,2.5e-7,"NaN"]}`))
	f.Add([]byte(`{"name":"x","t_ms":[9223372036854775807,1],"v":["+Inf",-0]}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		all := newSeriesSet()
		if decodeSeries(all, line) != nil {
			return
		}
		got := all.list(func(s string) string { return s })
		for _, s := range got {
			for i := 1; i < len(s.Points); i++ {
				if s.Points[i].T <= s.Points[i-1].T {
					t.Fatalf("times %v and %v", s.Points[i-1].T, s.Points[i].T)
				}
			}
		}
		if _, err := encodeAllSeries(got, &Written{}); err != nil {
			t.Errorf("what was read can't be written: %v", err)
		}
	})
}

func FuzzPacked(f *testing.F) {
	r := &Recording{Manifest: ended()}
	for _, row := range oneOfEach(start, 1) {
		r.Add(row)
	}
	var b bytes.Buffer
	if err := r.Pack(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(zstdMagic)
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := OpenPacked(bytes.NewReader(b), "x"); err == nil && r == nil {
			t.Error("neither a recording nor an error")
		}
	})
}

// A record of the log ends in samples or an error, in bounded memory.
func FuzzLog(f *testing.F) {
	var enc record.Encoder
	f.Add(enc.Series([]record.RefSeries{{Ref: 7, Labels: labels.FromStrings("__name__", "node_load1", "a", "b")}}, nil))
	f.Add(enc.Samples([]record.RefSample{{Ref: 7, T: 1, V: 2}, {Ref: 8, T: 1, V: 2}}, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		w := newReplay(newSeriesSet())
		w.refs[7] = w.all.series("node_load1", Labels{})
		if err := w.record(b); err == nil {
			w.all.list(func(s string) string { return s })
		}
	})
}
