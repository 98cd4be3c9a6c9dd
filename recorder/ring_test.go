package recorder

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"snag/probes/probe"
	"snag/recording"
)

// clock is the recorder's time in tests.
type clock struct{ at atomic.Int64 }

func (c *clock) now() recording.Time    { return recording.Time(c.at.Load()) }
func (c *clock) to(t recording.Time)    { c.at.Store(int64(t)) }
func (c *clock) pass(d time.Duration)   { c.at.Add(int64(d)) }
func second(i int) recording.Time       { return noon.Add(time.Duration(i) * time.Second) }
func manifestOf() recording.Manifest    { return recording.Manifest{Start: noon, Host: "h", Snag: "test"} }
func mustNot(t *testing.T) func(string) { return func(text string) { t.Helper(); t.Error(text) } }

func TestWriterGoesOnFromPieceToPiece(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var c clock
	c.to(noon)
	round := &probe.Rotation{}
	known := uint64(0)
	tp, err := newWriter(dir, manifestOf(), c.now, round, mustNot(t))
	if err != nil {
		t.Fatal(err)
	}
	tp.Append(recording.Fact{T: noon, Name: "kernel.release", Value: "6"})
	tp.Append(recording.Coverage{Probe: "drops", State: recording.CoverageOK, Since: noon, Lost: 5, Cost: 1, Late: 0.75})
	tp.Append(recording.Stack{ID: 1, Frames: []string{"read"}})
	tp.Append(recording.Stack{ID: 2, Frames: []string{"nobody names it"}})
	tp.Sample(second(1), "node_load1", nil, 1)
	tp.Sample(second(1), "snag_probe_late_seconds", recording.Labels{"probe": "drops"}, 0.75)
	tp.Append(recording.Drop{T: second(2), Reason: "A", Stack: 1, N: 3})
	c.to(second(60))
	tp.turn()
	if !round.Next(&known) {
		t.Error("the probes do not write anew what stands")
	}
	tp.Append(recording.Coverage{Probe: "drops", State: recording.CoverageOK, Since: noon, Lost: 7, Cost: 1.5, Late: 0.75})
	tp.Append(recording.Drop{T: second(61), Reason: "A", Stack: 1, N: 4})
	tp.Sample(second(61), "node_load1", nil, 2)
	c.to(second(120))
	if err := tp.Close(); err != nil {
		t.Fatal(err)
	}
	all, err := Ring{dir}.Pieces()
	if err != nil || len(all) != 2 || all[0].Open || all[1].Open {
		t.Fatalf("%v, %v", all, err)
	}
	r, err := recording.Open(filepath.Join(dir, all[1].Name))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Facts) != 1 || len(r.Stacks) != 1 || len(r.Drops) != 1 || r.Drops[0].Stack != r.Stacks[0].ID || len(r.Damage) > 0 {
		t.Errorf("the second piece alone: %v %v %v %v", r.Facts, r.Stacks, r.Drops, r.Damage)
	}
	if m, _ := r.Measured("drops"); m.Lost != 2 || m.Cost != 0.5 || m.Late != 0 {
		t.Errorf("what was lost before, and how late it was, counts for the second piece: %+v", m)
	}
	r, err = Ring{dir}.Read(second(0), second(120))
	if err != nil {
		t.Fatal(err)
	}
	if s := r.Select("node_load1"); len(r.Drops) != 2 || len(r.Facts) != 2 || len(s) != 1 || len(s[0].Points) != 2 {
		t.Errorf("both: %v %v %v", r.Drops, r.Facts, r.Series)
	}
	if m, _ := r.Measured("drops"); m.Lost != 7 || m.Late != 0.75 || m.State != recording.CoverageOK {
		t.Errorf("both: %+v", m)
	}
	if r, err = (Ring{dir}).Read(second(-2000), second(120)); err != nil || r.Manifest.Step != 10 {
		t.Errorf("half an hour is read second by second: %v", err)
	}
	if r, err = (Ring{dir}).Read(second(50), second(65)); err != nil || len(r.Drops) != 1 || len(r.Facts) != 1 {
		t.Errorf("a part: %v %v, %v", r.Drops, r.Facts, err)
	}
}

func TestRingSaysWhatItHas(t *testing.T) {
	t.Parallel()
	var none *NoneError
	if _, err := (Ring{filepath.Join(t.TempDir(), "no")}).Read(noon, second(1)); !errors.As(err, &none) || !strings.Contains(err.Error(), "snag record") {
		t.Errorf("no ring: %v", err)
	}
	dir := t.TempDir()
	if _, err := (Ring{dir}).Read(noon, second(1)); !errors.As(err, &none) {
		t.Errorf("an empty ring: %v", err)
	}
	var c clock
	c.to(noon)
	tp, err := newWriter(dir, manifestOf(), c.now, &probe.Rotation{}, mustNot(t))
	if err != nil {
		t.Fatal(err)
	}
	tp.Append(recording.Fact{T: noon, Name: "kernel.release", Value: "6"})
	c.to(second(60))
	tp.turn()
	c.to(second(120))
	if err := tp.Close(); err != nil {
		t.Fatal(err)
	}
	var outside *OutsideError
	if _, err := (Ring{dir}).Read(second(600), second(630)); !errors.As(err, &outside) || !strings.Contains(err.Error(), "12:00:00") || !strings.Contains(err.Error(), "12:02:00") {
		t.Errorf("a time outside: %v", err)
	}
	// One piece is torn, one is of a newer version, one is somebody's own file.
	all, err := Ring{dir}.Pieces()
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(filepath.Join(dir, all[0].Name))
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{all[0].Name: whole[:len(whole)/3], "notes.txt": []byte("mine"), nameOf(second(120), second(180), time.Second): []byte("no recording")} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Ring{dir}.Read(noon, second(180))
	if err != nil || len(r.Damage) < 2 {
		t.Errorf("pieces that can't be read: %v, %v", r, err)
	}
}

func TestSalvageOfAKilledRecorder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var c clock
	c.to(noon)
	tp, err := newWriter(dir, manifestOf(), c.now, &probe.Rotation{}, mustNot(t))
	if err != nil {
		t.Fatal(err)
	}
	tp.Append(recording.Drop{T: second(30), Reason: "A", N: 3})
	tp.w.Close()                                                                      // it is on the disk
	if err := os.Mkdir(filepath.Join(dir, openName(second(70))), 0o700); err != nil { // the next had nothing yet
		t.Fatal(err)
	}
	if err := salvage(dir, ""); err != nil {
		t.Fatal(err)
	}
	all, err := Ring{dir}.Pieces()
	if err != nil || len(all) != 1 || all[0].Open {
		t.Fatalf("%v, %v", all, err)
	}
	if r, err := (Ring{dir}).Read(noon, second(60)); err != nil || len(r.Drops) != 1 {
		t.Errorf("%v, %v", r, err)
	}
}

func TestOneRecorderAtATime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lock, err := hold(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if _, err := hold(dir); err == nil || !strings.Contains(err.Error(), "another snag record") {
		t.Errorf("a second one: %v", err)
	}
}

func TestKeeperThins(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var c clock
	now := recording.Time(time.Now().UnixNano())
	start := now.Add(-3*time.Hour) / recording.Time(10*time.Minute) * recording.Time(10*time.Minute)
	c.to(start)
	m := manifestOf()
	m.Start = start
	tp, err := newWriter(dir, m, c.now, &probe.Rotation{}, mustNot(t))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 * 60 {
		tp.Sample(c.now(), "node_load1", nil, float64(i))
		tp.Append(recording.Turns{T: c.now(), N: 1})
		if c.pass(time.Second); i%60 == 59 {
			tp.turn()
		}
	}
	if err := tp.Close(); err != nil {
		t.Fatal(err)
	}
	k := newKeeper(Ring{dir}, Limits{Keep: 24 * time.Hour, Size: 1 << 30}, mustNot(t))
	k.look()
	k.thinning.Wait()
	all, err := k.ring.Pieces()
	if err != nil || len(all) != 1 || all[0].Step != 10*time.Second {
		t.Fatalf("%v, %v", all, err)
	}
	r, err := k.ring.Read(start, start.Add(3*time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	s := r.Select("node_load1")
	if n, _ := s[0].Increase(); n != 179 || len(s[0].Points) != 36 || len(r.Turns) != 180 {
		t.Errorf("grew by %v in %d points, %d seconds of requests", n, len(s[0].Points), len(r.Turns))
	}
}

// A recorder that is killed between packing a piece and removing its folder leaves both: the piece counts
// once, and the next recorder removes the rest.
func TestAPieceThatIsPackedAndStillOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var c clock
	c.to(noon)
	tp, err := newWriter(dir, manifestOf(), c.now, &probe.Rotation{}, mustNot(t))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		tp.Append(recording.Drop{T: second(i), Reason: "A", N: 1})
	}
	c.to(second(10))
	open := openName(noon)
	if err := os.CopyFS(filepath.Join(dir, "kept"), os.DirFS(filepath.Join(dir, open))); err != nil {
		t.Fatal(err)
	}
	if err := tp.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "kept"), filepath.Join(dir, open)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, open+packedMark), 0o700); err != nil {
		t.Fatal(err)
	}
	all, err := Ring{dir}.Pieces()
	if err != nil || len(all) != 1 || all[0].Open {
		t.Fatalf("%+v, %v", all, err)
	}
	if err := salvage(dir, ""); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 || left[0].IsDir() {
		t.Errorf("%v, %v", left, err)
	}
	r, err := Ring{dir}.Read(second(0), second(10))
	if err != nil || len(r.Drops) != 10 {
		t.Errorf("%d drops, %v", len(r.Drops), err)
	}
}

// Whoever reads while pieces are packed finds each row once, and nothing damaged.
func TestReadWhilePiecesArePacked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var c clock
	c.to(noon)
	tp, err := newWriter(dir, manifestOf(), c.now, &probe.Rotation{}, mustNot(t))
	if err != nil {
		t.Fatal(err)
	}
	const pieces = 60
	var written atomic.Int64 // pieces that are packed
	done := make(chan error, 1)
	go func() {
		for i := range pieces {
			c.to(second(10*i + 5))
			tp.Append(recording.Drop{T: second(10*i + 5), Reason: "A", N: 1})
			c.to(second(10 * (i + 1)))
			if err := tp.turn(); err != nil {
				done <- err
				return
			}
			tp.packing.Wait() // what is in its buffers is not read
			written.Store(int64(i + 1))
		}
		done <- tp.Close()
	}()
	for reads := 0; ; reads++ {
		least := int(written.Load())
		r, err := Ring{dir}.Read(second(0), second(10*pieces))
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Drops) < least || len(r.Drops) > pieces || len(r.Damage) > 0 {
			t.Fatalf("%d rows of at least %d, damage %q", len(r.Drops), least, r.Damage)
		}
		for i, d := range r.Drops {
			if d.T != second(10*i+5) {
				t.Fatalf("row %d is of %v", i, d.T.Sub(noon))
			}
		}
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			if reads < 5 {
				t.Logf("only %d reads", reads)
			}
			return
		default:
		}
	}
}
