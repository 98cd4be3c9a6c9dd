package compare

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"snag/recording"
)

// steady is four minutes of eight services whose answers take from 1 to 25 ms, most of them of very uneven
// length, and their callers, in which nothing was changed.
const steady = "testdata/steady.snag"

const pairLength = 40 * time.Second

// pair cuts two stretches that do not overlap.
func pair(r *recording.Recording, rng *rand.Rand) (a, b *recording.Recording) {
	room := r.Length() - 2*pairLength
	first := time.Duration(rng.Int64N(int64(room)))
	second := first + pairLength + time.Duration(rng.Int64N(int64(room-first)))
	cut := func(at time.Duration) *recording.Recording {
		from := r.Manifest.Start.Add(at)
		return r.Cut(from, from.Add(pairLength))
	}
	a, b = cut(first), cut(second)
	if rng.IntN(2) == 0 {
		a, b = b, a
	}
	return a, b
}

// difference makes B differ in one way, and returns what a comparison must show.
type difference struct {
	name string
	make func(b *recording.Recording, rng *rand.Rand) (shows func(*Comparison) bool)
}

var differences = []difference{
	{"answers take longer", func(b *recording.Recording, rng *rand.Rand) func(*Comparison) bool {
		at, times := listener(b, rng), 1.8+rng.Float64()
		for i := range b.Turns {
			if row := &b.Turns[i]; row.Local == at || row.Remote == at {
				row.Sum, row.Max, row.Wait = row.Sum*times, row.Max*times, row.Wait*times
			}
		}
		return func(c *Comparison) bool {
			return slices.ContainsFunc(c.Parties, func(p Party) bool { return p.B.Subject.Local == at && p.Time.Worse() })
		}
	}},
	{"answers fail", func(b *recording.Recording, rng *rand.Rand) func(*Comparison) bool {
		at, share := listener(b, rng), 0.15+0.3*rng.Float64()
		for i := range b.Turns {
			row := &b.Turns[i]
			for range row.N {
				if row.Role == "serve" && row.Local == at && rng.Float64() < share {
					row.Failed++
				}
			}
		}
		return func(c *Comparison) bool {
			return slices.ContainsFunc(c.Parties, func(p Party) bool { return p.B.Subject.Local == at && p.Failed.Worse() })
		}
	}},
	{"packets are dropped", func(b *recording.Recording, rng *rand.Rand) func(*Comparison) bool {
		for at := range 40 {
			if n := rng.Uint64N(12); n > 0 {
				b.Drops = append(b.Drops, recording.Drop{T: b.Manifest.Start.Add(time.Duration(at) * time.Second), Reason: "SOCKET_RCVBUFF", N: n})
			}
		}
		return func(c *Comparison) bool { return worse(c, "packets that the kernel dropped (SOCKET_RCVBUFF)") }
	}},
	{"segments are sent again", func(b *recording.Recording, rng *rand.Rand) func(*Comparison) bool {
		for i, s := range b.Series {
			if s.Name != "node_netstat_Tcp_RetransSegs" {
				continue
			}
			points, more := slices.Clone(s.Points), 0.0
			for k := range points {
				more += float64(rng.IntN(8))
				points[k].V += more
			}
			b.Series[i].Points = points
		}
		return func(c *Comparison) bool { return worse(c, "TCP segments sent again") }
	}},
	{"a setting", func(b *recording.Recording, rng *rand.Rand) func(*Comparison) bool {
		i := rng.IntN(len(b.Facts))
		for strings.HasPrefix(b.Facts[i].Name, "snag.") {
			i = rng.IntN(len(b.Facts))
		}
		name := b.Facts[i].Name
		for k := range b.Facts {
			if b.Facts[k].Name == name {
				b.Facts[k].Value = "another"
			}
		}
		return func(c *Comparison) bool {
			return slices.ContainsFunc(c.Settings, func(s Setting) bool { return strings.HasPrefix(s.Name, name) && s.B == "another" }) && len(c.Builds) == 0
		}
	}},
	{"another build of a library", func(b *recording.Recording, rng *rand.Rand) func(*Comparison) bool {
		of := b.Libraries[rng.IntN(len(b.Libraries))]
		for k := range b.Libraries {
			if b.Libraries[k].Path == of.Path {
				b.Libraries[k].BuildID = "beef"
			}
		}
		return func(c *Comparison) bool {
			return slices.ContainsFunc(c.Builds, func(s Setting) bool { return strings.HasPrefix(s.Name, of.Comm+": ") && s.B == "beef" }) && len(c.Settings) == 0
		}
	}},
}

func worse(c *Comparison, what string) bool {
	return slices.ContainsFunc(c.Amounts, func(a Amount) bool { return a.What == what && a.Change.Worse() })
}

// listener is an address whose answers are many enough to compare.
func listener(r *recording.Recording, rng *rand.Rand) string {
	n := map[string]uint64{}
	for _, row := range r.Turns {
		if row.Role == "serve" {
			n[row.Local] += row.N
		}
	}
	var all []string
	for at, answers := range n {
		if answers >= 3*fewAnswers {
			all = append(all, at)
		}
	}
	slices.Sort(all)
	return all[rng.IntN(len(all))]
}

// pairs of each kind: 200 with SNAG_PAIRS=200, fewer where it is one test of many.
func pairs(t *testing.T) int {
	text := os.Getenv("SNAG_PAIRS")
	if text == "" {
		return 60
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("SNAG_PAIRS=%s: a number", text)
	}
	return n
}

// Of the pairs without a difference at most one in twenty may be called worse, or have a setting that
// differs; of those with one, nine in ten must show it.
func TestPairsCutFromARecording(t *testing.T) {
	r, err := recording.Open(steady)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(2, 1)) //nolint:gosec // the same pairs each time
	var wrong []string
	n := pairs(t)
	for range n {
		a, b := pair(r, rng)
		if c := Of(a, b); c.Outcome() != AsGood || len(c.Settings)+len(c.Builds) > 0 {
			wrong = append(wrong, describe(c))
		}
	}
	t.Logf("without a difference: %d of %d found one: %s", len(wrong), n, strings.Join(wrong, "; "))
	if 20*len(wrong) > n {
		t.Error("too many")
	}
	found, made := map[string]int{}, map[string]int{}
	all := 0
	for i := range n {
		a, b := pair(r, rng)
		d := differences[i%len(differences)]
		shows := d.make(b, rng)
		made[d.name]++
		if shows(Of(a, b)) {
			found[d.name]++
			all++
		}
	}
	t.Logf("with a difference: %d of %d found: %v of %v", all, n, found, made)
	if 10*all < 9*n {
		t.Error("too few")
	}
}

func describe(c *Comparison) string {
	out := fmt.Sprint(c.Outcome(), c.Settings, c.Builds)
	for _, p := range c.Parties {
		if p.Worse() {
			out += fmt.Sprintf(" %s %.3g → %.3g s", p.B.Subject.Name, p.Time.A, p.Time.B)
		}
	}
	for _, a := range c.Amounts {
		if a.Bad && a.Change.Worse() {
			out += fmt.Sprintf(" %s %.3g → %.3g", a.What, a.Change.A, a.Change.B)
		}
	}
	return out
}

// Pairs that the lab recorded: a library without the fast path costs the service time, and another build of it that
// is as fast costs nothing.
func TestPairsOfALibrary(t *testing.T) {
	open := func(name string) *recording.Recording {
		r, err := recording.Open("../lab/recordings/wrong-library-" + name + ".snag")
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	good := open("healthy")
	for name, want := range map[string]Outcome{"sick": Worse, "distractor": AsGood} {
		c := Of(good, open(name))
		slow := slices.ContainsFunc(c.Parties, func(p Party) bool { return p.B.Subject.Comm == "codec-server" && p.Time.Worse() })
		if c.Outcome() != want || slow != (want == Worse) || len(c.Builds) != 1 || c.Builds[0].Name != "codec-server: libcodec.so.1" {
			t.Errorf("%s: %s, want %s", name, describe(c), want)
		}
	}
}
