package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestRoundTrip(t *testing.T) {
	dir := written(t, 3, Options{})
	r := mustOpen(t, dir)
	wantDamage(t, r)

	want := &Recording{}
	for i := range 3 {
		for _, row := range oneOfEach(start.Add(time.Duration(i)*time.Second), i) {
			want.Add(row)
		}
	}
	for _, tb := range tables {
		var got, exp []Row
		tb.each(r, func(row Row) bool {
			if c, ok := row.(Coverage); !ok || c.Probe != writerProbe {
				got = append(got, row)
			}
			return true
		})
		tb.each(want, func(row Row) bool { exp = append(exp, row); return true })
		if len(exp) == 0 || !reflect.DeepEqual(got, exp) {
			t.Errorf("%s:\n got %+v\nwant %+v", tb.name, got, exp)
		}
	}
	if got := len(r.Series); got != 4 {
		t.Fatalf("%d series, want 4", got)
	}
	one := r.Select("node_softnet_processed_total", "cpu", "2")
	if len(one) != 1 {
		t.Fatalf("series of cpu 2: %v", one)
	}
	points := []Point{{start + 2e6, 2}, {start + 1e9 + 2e6, 1002}, {start + 2e9 + 2e6, 2002}}
	if !reflect.DeepEqual(one[0].Points, points) {
		t.Errorf("points are %v, want %v", one[0].Points, points)
	}
	m := manifest()
	m.Version, m.End, m.Written = 1, start.Add(2*time.Second+2*time.Millisecond), r.Manifest.Written
	if !reflect.DeepEqual(r.Manifest, m) {
		t.Errorf("manifest is %+v, want %+v", r.Manifest, m)
	}
	if r.Manifest.Written.Samples != 12 || r.Manifest.Written.Rows["sockets"] != 3 {
		t.Errorf("written: %+v", r.Manifest.Written)
	}
	if c, ok := r.Measured(writerProbe); !ok || c.State != CoverageOK {
		t.Errorf("coverage of the writer is %+v", c)
	}
}

// Every field of the recording that is a slice of rows has a line in the
// registry: a table that is forgotten there would be neither written nor read.
func TestEveryTableIsRegistered(t *testing.T) {
	v := reflect.TypeOf(Recording{})
	row := reflect.TypeOf((*Row)(nil)).Elem()
	n := 0
	for i := range v.NumField() {
		f := v.Field(i)
		if f.Type.Kind() != reflect.Slice || !f.Type.Elem().Implements(row) {
			continue
		}
		n++
		name := reflect.New(f.Type.Elem()).Elem().Interface().(Row).Table()
		if tableNamed(name) == nil {
			t.Errorf("%s (table %s) is not in tables", f.Name, name)
		}
	}
	if n != len(tables) {
		t.Errorf("%d fields of rows, %d tables", n, len(tables))
	}
	for _, r := range oneOfEach(start, 0) {
		n--
		_ = r
	}
	if n != 0 {
		t.Errorf("oneOfEach lacks %d tables", n)
	}
}

func TestBlockIsSealed(t *testing.T) {
	dir := written(t, 2, Options{})
	entries, err := os.ReadDir(filepath.Join(dir, samplesDir))
	if err != nil {
		t.Fatal(err)
	}
	var blocks, rest []string
	for _, e := range entries {
		if len(e.Name()) == ulidLen {
			blocks = append(blocks, e.Name())
		} else {
			rest = append(rest, e.Name())
		}
	}
	if len(blocks) != 1 || !reflect.DeepEqual(rest, []string{"wal"}) {
		t.Errorf("samples/ holds blocks %v and %v, want one block and wal", blocks, rest)
	}
	if left, err := os.ReadDir(filepath.Join(dir, samplesDir, "wal")); err != nil || len(left) != 0 {
		t.Errorf("wal holds %v, %v; want nothing", left, err)
	}
	if _, err := os.Stat(filepath.Join(dir, lockFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lock stays: %v", err)
	}
}

func TestUnboundedLabels(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rec")
	w, err := Create(dir, manifest(), Options{MaxSeries: 100})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 150 {
		w.Sample(start, "snag_per_request", Labels{"id": fmt.Sprint(i)}, 1)
	}
	w.Sample(start, "snag_ok", Labels{"cmd": strings.Repeat("x", 257)}, 1)
	w.Sample(start, "snag ok", nil, 1)
	w.Sample(start, "snag_ok", Labels{"a-b": "1"}, 1)
	w.Sample(start, "snag_ok", Labels{"a": "\xff"}, 1)
	w.Sample(0, "snag_per_request", Labels{"id": "1"}, 1)
	w.Sample(start-1e9, "snag_per_request", Labels{"id": "1"}, 1)
	w.Sample(start+100, "snag_per_request", Labels{"id": "1"}, 5) // the same millisecond: neither kept nor a loss
	w.Append(Drop{T: start, Reason: strings.Repeat("r", maxLine)})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r := mustOpen(t, dir)
	wantDamage(t, r)
	if len(r.Series) != 100 || len(r.Drops) != 0 {
		t.Errorf("%d series and %d drops, want 100 and 0", len(r.Series), len(r.Drops))
	}
	c, ok := r.Measured(writerProbe)
	if !ok || c.State != CoveragePartial || c.Lost != 50+7 {
		t.Errorf("coverage is %+v, want partial with 57 lost", c)
	}
	for _, want := range []string{
		`50 samples beyond 100 series (first: snag_per_request{id="100"})`,
		"1 samples with a label value over 256 bytes (first: snag_ok)",
		"1 rows over 1 MB (first: drops)", "1 samples that came out of order",
		"1 samples with a time outside the recording",
	} {
		if !strings.Contains(c.Why, want) {
			t.Errorf("why lacks %q: %s", want, c.Why)
		}
	}
}

func TestRowThatJSONCannotHold(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rec")
	w, err := Create(dir, manifest(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	nan := 0.0
	w.Append(Process{T: start, PID: 1, CPU: nan / nan})
	w.Append(Process{T: start, PID: 2})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r := mustOpen(t, dir)
	if len(r.Processes) != 1 || r.Processes[0].PID != 2 {
		t.Errorf("processes: %+v", r.Processes)
	}
	if c, _ := r.Measured(writerProbe); c.Lost != 1 {
		t.Errorf("coverage: %+v", c)
	}
}

func TestCreateRefuses(t *testing.T) {
	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, "thesis.tex"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Create(foreign, manifest(), Options{Replace: true})
	if err == nil || !strings.Contains(err.Error(), "thesis.tex") {
		t.Errorf("foreign folder: %v", err)
	}
	if left, _ := os.ReadDir(foreign); len(left) != 1 {
		t.Errorf("the foreign folder now holds %v", left)
	}
	held := written(t, 1, Options{})
	if _, err := Create(held, manifest(), Options{}); err == nil || !strings.Contains(err.Error(), "already holds a recording") {
		t.Errorf("a recording: %v", err)
	}
	if r := mustOpen(t, held); len(r.Sockets) != 1 {
		t.Error("the refused recording was changed")
	}
	w, err := Create(held, manifest(), Options{Replace: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if r := mustOpen(t, held); len(r.Sockets) != 0 {
		t.Error("the replaced recording still has its rows")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(file, manifest(), Options{}); err == nil {
		t.Error("a file as directory: no error")
	}
}

func TestTwoWritersAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rec")
	w, err := Create(dir, manifest(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = Create(dir, manifest(), Options{Replace: true})
	var busy *InUseError
	if !errors.As(err, &busy) || busy.PID != os.Getpid() {
		t.Errorf("the second writer: %v, want an error naming pid %d", err, os.Getpid())
	}
	w.Append(Process{T: start, PID: 1})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if r := mustOpen(t, dir); len(r.Processes) != 1 {
		t.Error("the first writer's row is lost")
	}
}

// fullStore fails as a full disk does after some commits.
type fullStore struct {
	sampleStore
	left int
	err  error
}

func (f *fullStore) commit(b []sample) (int, error) {
	if f.left--; f.left < 0 {
		return 0, f.err
	}
	return f.sampleStore.commit(b)
}

func TestFailureKeepsWhatWasWritten(t *testing.T) {
	broken := errors.New("input/output error")
	dir := filepath.Join(t.TempDir(), "rec")
	w, err := Create(dir, manifest(), Options{every: 10 * time.Millisecond, store: func(d string) (sampleStore, error) {
		s, err := openHead(filepath.Join(d, samplesDir), false)
		return &fullStore{s, 3, broken}, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ {
		w.Sample(start.Add(time.Duration(i)*time.Millisecond), "node_load1", nil, float64(i))
		w.Append(Process{T: start.Add(time.Duration(i) * time.Millisecond), PID: i + 1})
		select {
		case <-w.Failed():
		case <-time.After(time.Millisecond):
			if i < 20_000 {
				continue
			}
			t.Fatal("the writer never failed")
		}
		break
	}
	w.Append(Process{T: start, PID: 1 << 30}) // a no-op
	if !errors.Is(w.Err(), broken) || !errors.Is(w.Close(), broken) {
		t.Errorf("error is %v, want %v", w.Err(), broken)
	}
	r := mustOpen(t, dir)
	wantDamage(t, r, w.Err().Error())
	if len(r.Processes) == 0 || len(r.Series) != 1 || len(r.Series[0].Points) == 0 {
		t.Errorf("%d processes and %d series are left", len(r.Processes), len(r.Series))
	}
	for _, p := range r.Processes {
		if p.PID == 1<<30 {
			t.Error("a row was taken after the failure")
		}
	}
}

// A recording ends when it is to be closed, and not once a slow disk has its samples: those
// seconds would count as missed.
func TestEndsBeforeItIsWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rec")
	w, err := Create(dir, manifest(), Options{Now: func() Time {
		if _, err := os.Stat(filepath.Join(dir, "samples", "chunks_head")); err != nil { // they are sealed
			return start.Add(time.Minute)
		}
		return start.Add(30 * time.Second)
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if r := mustOpen(t, dir); r.Length() != 30*time.Second {
		t.Errorf("length is %s, want 30s", r.Length())
	}
}

func TestManifestUpdate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rec")
	w, err := Create(dir, manifest(), Options{Now: func() Time { return start.Add(30 * time.Second) }})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Update(func(m *Manifest) { m.Target.PIDs = []int{812} }); err != nil {
		t.Fatal(err)
	}
	var m Manifest
	b, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if err != nil || json.Unmarshal(b, &m) != nil || len(m.Target.PIDs) != 1 {
		t.Errorf("manifest after the update: %s, %v", b, err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if r := mustOpen(t, dir); r.Length() != 30*time.Second {
		t.Errorf("length is %s, want 30s", r.Length())
	}
	if err := w.Update(func(*Manifest) {}); err == nil {
		t.Error("an update after the end: no error")
	}
}

func TestSizeOfAFind(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rec")
	w, err := Create(dir, manifest(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	busyHost(w, 30, 200, 1000) // every socket watched: the most that find does
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	total, samples := size(t, dir), size(t, filepath.Join(dir, samplesDir))
	r := mustOpen(t, dir)
	var packed bytes.Buffer
	if err := r.Pack(&packed); err != nil {
		t.Fatal(err)
	}
	t.Logf("30 s, 200 sockets at 1 Hz, 1,000 series: %.2f MB, of it samples %.2f MB, packed %.0f kB", float64(total)/1e6, float64(samples)/1e6, float64(packed.Len())/1e3)
	if total > 10e6 {
		t.Errorf("%d bytes, want at most 10 MB", total)
	}
	if len(r.Sockets) != 6000 || r.Manifest.Written.Samples != 30_000 {
		t.Errorf("%d sockets, %d samples", len(r.Sockets), r.Manifest.Written.Samples)
	}
}
