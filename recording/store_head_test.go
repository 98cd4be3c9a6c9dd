package recording

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/prometheus/tsdb/chunks"

	"snag/recording/wal"
)

// commitTo commits samples of one series, at these times.
func commitTo(t *testing.T, s sampleStore, of *series, times ...int64) (refused int) {
	t.Helper()
	var batch []sample
	for _, ms := range times {
		batch = append(batch, sample{of, ms, float64(ms)})
	}
	refused, err := s.commit(batch)
	if err != nil {
		t.Fatal(err)
	}
	return refused
}

// readAll returns the times in ms of each series by name.
func readAll(t *testing.T, dir string) map[string][]int64 {
	t.Helper()
	all := newSeriesSet()
	if _, damage, err := readStore(all, dir); err != nil || len(damage) > 0 {
		t.Fatal(damage, err)
	}
	out := map[string][]int64{}
	for _, s := range all.list(func(s string) string { return s }) {
		for _, p := range s.Points {
			out[s.Name] = append(out[s.Name], millis(p.T))
		}
	}
	return out
}

// What is refused is neither in the log nor in the block: a time that a series had or was past, and, unless the times
// are those of files, one an hour before the newest of all.
func TestHeadRefuses(t *testing.T) {
	for _, files := range []bool{false, true} {
		dir := t.TempDir()
		s, err := openHead(filepath.Join(dir, samplesDir), files)
		if err != nil {
			t.Fatal(err)
		}
		const hour = 3600 * 1000
		a, b := &series{name: "a"}, &series{name: "b"}
		want := map[string][]int64{"a": {0, 5, hour + 10}}
		for i, c := range []struct {
			of      *series
			times   []int64
			refused int
		}{
			{a, []int64{0, 5, 5, 3}, 2}, {a, []int64{5, hour + 10}, 1}, {b, []int64{9}, 1}, {b, []int64{10, hour}, 0},
		} {
			if files && i == 2 {
				c.refused = 0
			}
			if got := commitTo(t, s, c.of, c.times...); got != c.refused {
				t.Errorf("files %v: %d of %v are refused, want %d", files, got, c.times, c.refused)
			}
		}
		if want["b"] = []int64{10, hour}; files {
			want["b"] = []int64{9, 10, hour}
		}
		logged := readAll(t, dir)
		if err := s.seal(); err != nil {
			t.Fatal(err)
		}
		for kind, got := range map[string]map[string][]int64{"log": logged, "block": readAll(t, dir)} {
			if !slices.Equal(got["a"], want["a"]) || !slices.Equal(got["b"], want["b"]) {
				t.Errorf("files %v: the %s has %v, want %v", files, kind, got, want)
			}
		}
	}
}

// Full chunks go to mapped files, and where those cannot be written they stay in memory: the block has them all.
func TestFullChunks(t *testing.T) {
	for _, broken := range []bool{false, true} {
		dir := t.TempDir()
		opened, err := openHead(filepath.Join(dir, samplesDir), false)
		if err != nil {
			t.Fatal(err)
		}
		s, ok := opened.(*headStore)
		if !ok {
			t.Fatal(opened)
		}
		if broken {
			if err := s.mapped.Close(); err != nil {
				t.Fatal(err)
			}
		}
		of := &series{name: "a"}
		for i := range int64(5*samplesPerChunk + 7) {
			commitTo(t, s, of, i)
		}
		inMemory := 0
		for _, c := range s.series[0].full {
			if c.chunk != nil {
				inMemory++
			}
		}
		if want := map[bool]int{true: 5}[broken]; inMemory != want || len(s.series[0].full) != 5 {
			t.Errorf("%d of %d full chunks are in memory, want %d of 5", inMemory, len(s.series[0].full), want)
		}
		if err := s.seal(); err != nil {
			t.Fatal(err)
		}
		if got := readAll(t, dir)["a"]; len(got) != 5*samplesPerChunk+7 {
			t.Errorf("the block has %d samples", len(got))
		}
	}
}

// A chunk that cannot be read back leaves no block, and the log as it was.
func TestNoBlockWithoutItsChunks(t *testing.T) {
	dir := t.TempDir()
	opened, err := openHead(filepath.Join(dir, samplesDir), false)
	if err != nil {
		t.Fatal(err)
	}
	of := &series{name: "a"}
	for i := range int64(samplesPerChunk + 1) {
		commitTo(t, opened, of, i)
	}
	opened.(*headStore).series[0].full[0].at = chunks.ChunkDiskMapperRef(99 << 32)
	if err := opened.seal(); err == nil {
		t.Error("a block without a chunk")
	}
	if got := readAll(t, dir)["a"]; len(got) != samplesPerChunk+1 {
		t.Errorf("%d samples are left", len(got))
	}
	entries, _ := os.ReadDir(filepath.Join(dir, samplesDir))
	for _, e := range entries {
		if e.Name() != walDir && e.Name() != chunksHeadDir {
			t.Errorf("%s is left", e.Name())
		}
	}
}

// A log that was cut short begins with the newest checkpoint; the segments that it stands for may still be there.
func TestCheckpoint(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, samplesDir, walDir)
	s, err := openHead(filepath.Join(dir, samplesDir), false)
	if err != nil {
		t.Fatal(err)
	}
	of := &series{name: "a"}
	commitTo(t, s, of, 1, 2)
	for i, at := range []string{"checkpoint.00000000", "checkpoint.00000001"} {
		if err := os.Mkdir(filepath.Join(log, at), 0o700); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(log, "00000000"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(log, at, "00000000"), b[:len(b)*i], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	commitTo(t, s, of, 3) // in a segment that is behind the checkpoint
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, dir)["a"]; fmt.Sprint(got) != "[1 2]" {
		t.Errorf("read %v: only the last checkpoint is to be read", got)
	}
}

// A commit that the log does not take is not in the block.
func TestHeadKeepsNothingThatIsNotLogged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rec")
	w, err := wal.Create(filepath.Join(dir, walDir), walSegment)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil { // it refuses what comes
		t.Fatal(err)
	}
	s := &headStore{dir: dir, wal: w}
	if _, err := s.commit([]sample{{&series{name: "a"}, millis(start.Add(time.Second)), 1}}); err == nil {
		t.Fatal("a closed log takes samples")
	}
	if s.samples != 0 || !s.series[0].empty() {
		t.Errorf("%d samples are kept", s.samples)
	}
}
