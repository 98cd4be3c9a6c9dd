package actor

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"time"
)

// arrivals sends n packets of that size at a steady pace and returns when each
// is due; a lost one has none.
func arrivals(p Path, seed uint64, n, size int, every time.Duration) [][]time.Duration {
	f := newFate(p, seed)
	var out [][]time.Duration
	for i := range n {
		out = append(out, f.of(time.Duration(i)*every, size))
	}
	return out
}

func TestFate(t *testing.T) {
	const n, every = 20000, time.Millisecond
	for _, c := range []struct {
		name                       string
		path                       Path
		lost, twice, late, reorder [2]float64 // shares, low and high
	}{
		{"a clean path", Path{Delay: 10 * time.Millisecond}, [2]float64{}, [2]float64{}, [2]float64{}, [2]float64{}},
		{"loss", Path{Loss: 0.02}, [2]float64{0.017, 0.023}, [2]float64{}, [2]float64{}, [2]float64{}},
		{"duplicates", Path{Duplicate: 0.1}, [2]float64{}, [2]float64{0.09, 0.11}, [2]float64{}, [2]float64{}},
		{"jitter keeps the order", Path{Jitter: 5 * time.Millisecond}, [2]float64{}, [2]float64{}, [2]float64{0.5, 1}, [2]float64{}},
		{"reordering", Path{Reorder: 0.05, Hold: 5 * time.Millisecond}, [2]float64{}, [2]float64{}, [2]float64{0.04, 0.06}, [2]float64{0.04, 0.06}},
		// 100 bytes each ms into a line of 50 bytes each ms with room for 10 packets.
		{"a full queue", Path{Rate: 50000, Queue: 1000}, [2]float64{0.49, 0.51}, [2]float64{}, [2]float64{0.4, 0.6}, [2]float64{}},
		{"a black hole", Path{MaxSize: 99}, [2]float64{1, 1}, [2]float64{}, [2]float64{}, [2]float64{}},
	} {
		var lost, twice, late, overtaken float64
		all := arrivals(c.path, 7, n, 100, every)
		for i, due := range all {
			if len(due) == 0 {
				lost++
				continue
			}
			if len(due) == 2 {
				twice++
			}
			if due[0] > time.Duration(i)*every+c.path.Delay+time.Millisecond {
				late++
			}
			if i+1 < n && len(all[i+1]) > 0 && all[i+1][0] < due[0] {
				overtaken++
			}
		}
		for _, m := range []struct {
			what  string
			got   float64
			limit [2]float64
		}{{"lost", lost, c.lost}, {"twice", twice, c.twice}, {"late", late, c.late}, {"overtaken", overtaken, c.reorder}} {
			if share := m.got / n; share < m.limit[0] || share > m.limit[1] {
				t.Errorf("%s: share %s %.4f, want %v", c.name, m.what, share, m.limit)
			}
		}
	}
}

func TestFateIsTheSeeds(t *testing.T) {
	p := Path{Loss: 0.1, Jitter: time.Millisecond, Reorder: 0.1, Hold: time.Millisecond}
	same := func(a, b [][]time.Duration) bool {
		for i := range a {
			if len(a[i]) != len(b[i]) || len(a[i]) > 0 && a[i][0] != b[i][0] {
				return false
			}
		}
		return true
	}
	one := arrivals(p, 1, 1000, 100, time.Millisecond)
	if !same(one, arrivals(p, 1, 1000, 100, time.Millisecond)) {
		t.Error("one seed gave two fates")
	}
	if same(one, arrivals(p, 2, 1000, 100, time.Millisecond)) {
		t.Error("two seeds gave one fate")
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

func TestDelayLineWritesInOrderOfDue(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var out lockedBuffer
	l := newDelayLine(time.Now(), &out)
	go l.run(ctx)
	l.put(60*time.Millisecond, []byte("d"))
	l.put(20*time.Millisecond, []byte("a"))
	l.put(40*time.Millisecond, []byte("b"))
	l.put(40*time.Millisecond, []byte("c"))
	for deadline := time.Now().Add(5 * time.Second); len(out.String()) < 4 && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
	if out.String() != "abcd" {
		t.Errorf("wrote %q", out.String())
	}
}

func TestParseEnd(t *testing.T) {
	ns, dev, addr, err := parseEnd("lab-left/tun0/10.9.0.1/24")
	if err != nil || ns != "lab-left" || dev != "tun0" || addr != "10.9.0.1/24" {
		t.Errorf("got %q %q %q %v", ns, dev, addr, err)
	}
	for _, bad := range []string{"", "a/b", "a//10.0.0.1/24", "a/b/10.0.0.1"} {
		if _, _, _, err := parseEnd(bad); err == nil {
			t.Errorf("parseEnd(%q) gave no error", bad)
		}
	}
}
