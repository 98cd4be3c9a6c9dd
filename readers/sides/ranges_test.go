package sides

import (
	"math/rand/v2"
	"testing"
)

// Ranges against an array with a mark for each byte.
func TestRanges(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		const size = 400
		var seen [size]bool
		r := ranges{started: true}
		var out []span
		for range 60 {
			from := rnd.Int64N(size - 20)
			s := span{from, from + 1 + rnd.Int64N(19)}
			out = r.add(s, out)
			fresh := map[int64]bool{}
			for _, n := range out {
				for i := n.from; i < n.to; i++ {
					fresh[i] = true
				}
			}
			for i := s.from; i < s.to; i++ {
				if fresh[i] == seen[i] {
					t.Fatalf("byte %d of %v: new %v, seen before %v", i, s, fresh[i], seen[i])
				}
				seen[i] = true
				delete(fresh, i)
			}
			if len(fresh) > 0 {
				t.Fatalf("%v are new, of %v", fresh, s)
			}
			from = rnd.Int64N(size - 20)
			s = span{from, from + rnd.Int64N(20)}
			missing := int64(0)
			for i := s.from; i < s.to; i++ {
				if !seen[i] {
					missing++
				}
			}
			if got := r.missing(s); got != missing {
				t.Fatalf("%d bytes of %v are missing, not %d: %+v", missing, s, got, r)
			}
		}
		r.forget(size / 2)
		if r.missing(span{0, size / 2}) != 0 {
			t.Fatal("what was given up is still missed")
		}
	}
}

func TestRangesAreBounded(t *testing.T) {
	r := ranges{started: true}
	for i := range int64(10000) {
		r.add(span{10 + 2*i, 11 + 2*i}, nil)
	}
	if len(r.islands) > maxSpans {
		t.Errorf("%d islands", len(r.islands))
	}
}
