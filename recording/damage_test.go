package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// memory is a whole recording without samples, to be damaged at will.
func memory(t *testing.T, m Manifest) files {
	t.Helper()
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	f := files{manifestFile: b, packedSamples: []byte(`{"name":"node_load1","t_ms":[1790000000123],"v":[1]}` + "\n")}
	for i := range 3 {
		for _, row := range oneOfEach(start.Add(time.Duration(i)*time.Second), i) {
			line, err := json.Marshal(row)
			if err != nil {
				t.Fatal(err)
			}
			name := tablesDir + "/" + row.Table() + ".jsonl"
			f[name] = append(append(f[name], line...), '\n')
		}
	}
	return f
}

func ended() Manifest {
	m := manifest()
	m.Version, m.End = Version, start.Add(2*time.Second)
	return m
}

func TestTornTailAtEveryByte(t *testing.T) {
	whole := memory(t, ended())
	for _, tb := range tables {
		name := tablesDir + "/" + tb.name + ".jsonl"
		text := whole[name]
		lastLine := bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
		for cut := lastLine; cut <= len(text); cut++ {
			f := files{manifestFile: whole[manifestFile], packedSamples: whole[packedSamples], name: text[:cut]}
			r, err := read(f, "x", "", current)
			if err != nil {
				t.Fatal(err)
			}
			rows := 0
			last := Coverage{}
			tb.each(r, func(row Row) bool {
				rows++
				if c, ok := row.(Coverage); ok {
					last = c
				}
				return true
			})
			want := 2
			var damage []string
			switch {
			case cut >= len(text)-1: // only the newline may be missing: nothing is lost
				want = 3
			case cut > lastLine:
				damage = []string{name + ": the last line, 3, is cut off: 1 line lost"}
			}
			if tb.name == "coverage" {
				if rows != 1 || int(last.Lost) != want-1 {
					t.Errorf("coverage cut at %d: %d rows, the last %+v", cut, rows, last)
				}
			} else if rows != want {
				t.Errorf("%s cut at %d of %d: %d rows, want %d", name, cut, len(text), rows, want)
			}
			if strings.Join(r.Damage, "|") != strings.Join(damage, "|") {
				t.Errorf("%s cut at %d of %d: damage %q, want %q", name, cut, len(text), r.Damage, damage)
			}
		}
	}
}

func TestDamage(t *testing.T) {
	sockets := tablesDir + "/sockets.jsonl"
	for name, c := range map[string]struct {
		change func(m *Manifest, f files)
		want   []string
	}{
		"a table that was written is missing": {
			func(m *Manifest, f files) {
				m.Written = &Written{Rows: map[string]int{"sockets": 3}}
				delete(f, sockets)
			},
			[]string{"tables/sockets.jsonl is missing: 3 rows lost"},
		},
		"a table that was not written is missing": {func(_ *Manifest, f files) { delete(f, sockets) }, nil},
		"lines are missing": {
			func(m *Manifest, _ files) { m.Written = &Written{Rows: map[string]int{"sockets": 5}} },
			[]string{"tables/sockets.jsonl holds 3 of the 5 rows that were written"},
		},
		"samples are missing": {
			func(m *Manifest, f files) { delete(f, packedSamples) },
			[]string{"samples are missing: no counter or gauge can be judged"},
		},
		"values are missing": {
			func(m *Manifest, _ files) { m.Written = &Written{Samples: 9} },
			[]string{"samples hold 1 of the 9 values that were written"},
		},
		"the end is missing": {
			func(m *Manifest, _ files) { m.End = 0 },
			[]string{"the recording was cut off: it has no end in its manifest and is read up to the last time seen in it"},
		},
		"a line in the middle": {
			func(_ *Manifest, f files) { f[sockets] = append([]byte("null\n\n"), f[sockets]...) },
			[]string{"tables/sockets.jsonl: line 1 can't be read (not a JSON object): 1 line lost"},
		},
		"a huge line": {
			func(_ *Manifest, f files) {
				f[sockets] = append(append(bytes.Repeat([]byte{'{'}, 5<<20), '\n'), f[sockets]...)
			},
			[]string{"tables/sockets.jsonl: line 1 can't be read (over 1 MB): 1 line lost"},
		},
		"several lines": {
			func(_ *Manifest, f files) { f[sockets] = append([]byte("{\n[]\n{\"t\":\"noon\"}\n"), f[sockets]...) },
			[]string{"tables/sockets.jsonl: 3 lines can't be read, the first is line 1 (unexpected end of JSON input): 3 lines lost"},
		},
		"a newer snag's table and column": {
			func(_ *Manifest, f files) {
				f[tablesDir+"/gpus.jsonl"] = []byte("{}\n")
				f[sockets] = bytes.ReplaceAll(f[sockets], []byte(`{"t":`), []byte(`{"colour":{"r":1},"t":`))
			}, nil,
		},
		"a series that can't be read": {
			func(_ *Manifest, f files) {
				f[packedSamples] = append([]byte(`{"name":"x","t_ms":[1,2],"v":[1]}`+"\n"), f[packedSamples]...)
			},
			[]string{"samples.jsonl: line 1 can't be read (2 times for 1 values): 1 line lost"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := ended()
			f := memory(t, m)
			c.change(&m, f)
			f[manifestFile], _ = json.Marshal(m)
			r, err := read(f, "x", "", current)
			if err != nil {
				t.Fatal(err)
			}
			wantDamage(t, r, c.want...)
			if r.Manifest.End != start.Add(2*time.Second) {
				t.Errorf("the end is %v", r.Manifest.End)
			}
			if len(r.Drops) != 3 {
				t.Errorf("%d drops: what is whole must be read", len(r.Drops))
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		d := filepath.Join(dir, name)
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
		if text != "" {
			if err := os.WriteFile(filepath.Join(d, manifestFile), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return d
	}
	text := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(text, []byte("hello, this is text"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, want string }{
		{filepath.Join(dir, "nothing"), "no such file or directory"},
		{put("empty", ""), "is not a snag recording: no manifest.json"},
		{put("newer", `{"version":9,"snag":"3.1.0"}`), "it is of version 9 and this snag reads up to 1: use snag ≥ 3.1.0"},
		{put("zero", `{"version":0}`), "version 0, which no snag wrote"},
		{put("other", `{"name":"my-extension"}`), "is not a snag recording: manifest.json has no version"},
		{put("torn", `{"version":1,"sn`), "manifest.json can't be read: unexpected end of JSON input: restore the file, or record again"},
		{text, "is not a snag recording: neither a folder nor a packed recording"},
		{"/dev/null", "is not a snag recording: neither a directory nor a file"},
	} {
		r, err := Open(c.path)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.path) {
			t.Errorf("%s: %v, %v; want an error with %q and the path", c.path, r, err, c.want)
		}
	}
}

// What lies outside the recording, or would never end, is not read.
func TestLinksAndSpecialFiles(t *testing.T) {
	dir := written(t, 1, Options{})
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(`{"t":1,"pid":666}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	table := func(n string) string { return filepath.Join(dir, tablesDir, n+".jsonl") }
	for _, n := range []string{"processes", "drops"} {
		if err := os.Remove(table(n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink(secret, table("processes")), unix.Mkfifo(table("drops"), 0o644),
		os.Symlink("/etc", filepath.Join(dir, samplesDir, "wal", "00000001"))); err != nil {
		t.Fatal(err)
	}
	r := mustOpen(t, dir)
	if len(r.Processes) != 0 || len(r.Drops) != 0 || len(r.Series) != 0 || len(r.Sockets) != 1 {
		t.Errorf("read %d processes, %d drops, %d series, %d sockets", len(r.Processes), len(r.Drops), len(r.Series), len(r.Sockets))
	}
	all := strings.Join(r.Damage, "\n")
	for _, want := range []string{"processes.jsonl can't be read", "drops.jsonl is not a regular file", "wal/00000001 is a link"} {
		if !strings.Contains(all, want) {
			t.Errorf("damage lacks %q:\n%s", want, all)
		}
	}
}

func TestMoves(t *testing.T) {
	m := ended()
	f := memory(t, m)
	two := schema{2, []move{{
		from:     1,
		manifest: func(m map[string]json.RawMessage) error { m["host"] = json.RawMessage(`"moved"`); return nil },
		row: func(table string, row map[string]json.RawMessage) (bool, error) {
			if table == "drops" {
				row["n"] = json.RawMessage("100")
			}
			return table != "resets", nil
		},
		metric: func(name string) string { return strings.Replace(name, "node_load1", "node_load_one", 1) },
	}}}
	r, err := read(f, "x", "", two)
	if err != nil {
		t.Fatal(err)
	}
	wantDamage(t, r)
	if r.Manifest.Host != "moved" || r.Manifest.Version != 2 || len(r.Drops) != 3 || r.Drops[1].N != 100 || len(r.Resets) != 0 || len(r.Sockets) != 3 || r.Series[0].Name != "node_load_one" {
		t.Errorf("moved to %+v, %+v, %d resets, %v", r.Manifest, r.Drops, len(r.Resets), r.Series)
	}
	if _, err := read(f, "x", "", schema{3, two.moves}); err == nil {
		t.Error("a way with a missing step: no error")
	}
	for v := 1; v <= Version; v++ {
		if _, ok := current.from(v); !ok {
			t.Errorf("no moves lead from version %d to %d", v, Version)
		}
	}
}

// A block or a log cut at any place gives damage and what is readable, no panic.
func TestDamagedSamples(t *testing.T) {
	dir := written(t, 20, Options{})
	var victims []string
	err := filepath.WalkDir(filepath.Join(dir, samplesDir), func(p string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && e.Name() != "tombstones" {
			victims = append(victims, p)
		}
		return err
	})
	if err != nil || len(victims) < 3 {
		t.Fatal(victims, err)
	}
	for _, v := range victims {
		whole, err := os.ReadFile(v)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(whole); i += 1 + len(whole)/40 {
			bad := append([]byte(nil), whole...)
			bad[i] ^= 0x55
			for kind, b := range map[string][]byte{"cut": whole[:i], "flipped": bad} {
				if err := os.WriteFile(v, b, 0o644); err != nil {
					t.Fatal(err)
				}
				r, err := Open(dir)
				if err != nil {
					t.Fatal(err)
				}
				if len(r.Sockets) != 20 {
					t.Fatalf("%s %s at %d: the tables are lost too", v, kind, i)
				}
				if kind == "cut" && filepath.Base(v) != "meta.json" && len(r.Damage) == 0 {
					t.Errorf("%s cut at %d of %d: no damage", v, i, len(whole))
				}
			}
		}
		if err := os.WriteFile(v, whole, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	wantDamage(t, mustOpen(t, dir))
}

// A log that was cut at any place gives a row of commits from the first on.
func TestTornLog(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rec")
	w, err := Create(dir, manifest(), Options{every: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for i := range 20 {
		for c := range 5 {
			w.Sample(start.Add(time.Duration(i)*time.Second), "node_cpu_seconds_total", Labels{"cpu": fmt.Sprint(c)}, float64(i+1))
		}
		if err := w.flush(true); err != nil {
			t.Fatal(err)
		}
	}
	seg := filepath.Join(dir, samplesDir, "wal", "00000000")
	whole, err := os.ReadFile(seg)
	if err != nil {
		t.Fatal(err)
	}
	before, damaged := 0, 0
	for cut := 0; cut <= len(whole); cut++ {
		if err := os.WriteFile(seg, whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		all := newSeriesSet()
		_, damage, err := readLog(all, filepath.Dir(seg))
		if err != nil {
			t.Fatal(err)
		}
		points := 0
		for _, s := range all.list(func(s string) string { return s }) {
			points += len(s.Points)
			for i, p := range s.Points {
				if p.V != float64(i+1) {
					t.Fatalf("cut at %d: point %d of %s is %v", cut, i, s.Key(), p.V)
				}
			}
		}
		if points < before || points%5 != 0 {
			t.Fatalf("cut at %d: %d points after %d", cut, points, before)
		}
		before = points
		if len(damage) > 0 {
			damaged++
		}
	}
	if before != 100 || damaged < len(whole)/2 {
		t.Errorf("%d points of 100 from the whole log; %d of %d cuts said damage", before, damaged, len(whole))
	}
}
