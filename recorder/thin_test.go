package recorder

import (
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"snag/probes/probe"
	"snag/recording"
)

// Old pieces are handed to whoever downsamples them, one group at a time; meanwhile the keeper neither waits
// nor deletes anything.
func TestKeeperDoesNotWaitForThinning(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	start := recording.Time(time.Now().Add(-3*time.Hour).UnixNano()) / recording.Time(time.Hour) * recording.Time(time.Hour)
	var names []string
	for i := range 3 {
		from := start.Add(time.Duration(i) * time.Minute)
		names = append(names, nameOf(from, from.Add(time.Minute), time.Second))
		if err := os.WriteFile(filepath.Join(dir, names[i]), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	k := newKeeper(Ring{dir}, Limits{Keep: 24 * time.Hour, Size: 1 << 30}, mustNot(t))
	var calls atomic.Int32
	release := make(chan struct{})
	k.thin = func(pieces []string, step time.Duration) error {
		calls.Add(1)
		if !slices.Equal(pieces, names) || step != 10*time.Second {
			t.Errorf("%v to %s", pieces, step)
		}
		<-release
		return nil
	}
	k.look()
	k.limits.Size = 1 // too small, while they are read
	k.look()
	if all, err := k.ring.Pieces(); err != nil || len(all) != 3 || k.size != 3 {
		t.Errorf("%d pieces of %d bytes are left, %v", len(all), k.size, err)
	}
	close(release)
	k.thinning.Wait()
	if n := calls.Load(); n != 1 {
		t.Errorf("downsampled %d times at once", n)
	}
	k.thin = func([]string, time.Duration) error { return nil }
	k.look()
	k.thinning.Wait()
	if all, err := k.ring.Pieces(); err != nil || len(all) != 1 {
		t.Errorf("%d pieces are left, %v", len(all), err)
	}
}

// What packing a piece took is given back once it is there, not before.
func TestMemoryIsGivenBackAfterPacking(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var c clock
	c.to(noon)
	tp, err := newWriter(dir, manifestOf(), c.now, &probe.Rotation{}, mustNot(t))
	if err != nil {
		t.Fatal(err)
	}
	packed := make(chan int, 9)
	tp.packed = func() {
		found, _ := filepath.Glob(filepath.Join(dir, "*-1s"+suffix))
		packed <- len(found)
	}
	for i := range 2 {
		tp.Append(recording.Drop{T: c.now(), Reason: "A", N: 1})
		c.pass(time.Minute)
		if err := tp.turn(); err != nil {
			t.Fatal(err)
		}
		select {
		case n := <-packed:
			if n != i+1 {
				t.Errorf("%d pieces are there, want %d", n, i+1)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("nothing is given back")
		}
	}
	if err := tp.Close(); err != nil {
		t.Error(err)
	}
}
