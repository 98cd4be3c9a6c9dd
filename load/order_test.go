package load

import (
	"math/rand/v2"
	"testing"
	"time"
)

// Whatever is added and removed in between: the first is the one that is ready first.
func TestTheFirstIsReadyFirst(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	p := &Plan{Rate: 0}
	var o byReady
	in := map[*conn]bool{}
	for step := range 5000 {
		if random.IntN(3) > 0 || len(in) == 0 {
			c := &conn{at: free, freeAt: time.Duration(random.IntN(100)), heapAt: -1}
			o.add(c, p)
			in[c] = true
		} else {
			for c := range in { // any one
				o.remove(c)
				o.remove(c) // that is not there any more
				delete(in, c)
				break
			}
		}
		want := time.Duration(1 << 40)
		for c := range in {
			want = min(want, c.freeAt)
		}
		if c := o.first(); len(o.all) != len(in) || len(in) > 0 && (!in[c] || c.readyAt != want) {
			t.Fatalf("step %d: %d connections of %d, first %v, want %v", step, len(o.all), len(in), c, want)
		}
	}
}
