package pool

import (
	"cmp"
	"fmt"
	"maps"

	"snag/internal/sorting"
	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/scene"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// word is what threads wait on in futex: a lock's own word, or one of the two of a condition
// variable, which lie in the same eight bytes.
type word struct {
	address uint64
	seconds float64 // of all threads that wait there
	threads map[int]bool
}

// tailAtOneWord suspects a lock where the answers of a service are uneven, and threads that work
// at other times waited at one word for about as long as its late answers took. Whether it is a
// lock's, or a condition's that a long request waits for, such looks don't tell: so this proves
// nothing, and asks for a closer look. The word at which most of the waiting is done is the
// pool's, where threads wait for work.
func tailAtOneWord(p *scene.Process, r *recording.Recording, l *ledger.Ledger) (suspect.Finding, bool) {
	late, each := l.LateAnswers(p.Subject.PID)
	if late == 0 {
		return suspect.Finding{}, false
	}
	words, works := map[uint64]*word{}, map[int]bool{}
	for _, row := range r.ThreadStates {
		switch {
		case row.PID != p.Subject.PID || row.Looks == 0:
		case row.Call != "futex":
			works[row.TID] = true
		default:
			w := words[row.Futex&^7]
			if w == nil {
				w = &word{address: row.Futex, threads: map[int]bool{}}
				words[row.Futex&^7] = w
			}
			w.seconds += float64(row.N) / float64(row.Looks)
			w.threads[row.TID] = true
		}
	}
	all := sorting.Collect(maps.Values(words), func(a, b *word) int {
		return cmp.Or(cmp.Compare(b.seconds, a.seconds), cmp.Compare(a.address, b.address))
	})
	for _, w := range all[min(1, len(all)):] {
		maps.DeleteFunc(w.threads, func(tid int, _ bool) bool { return !works[tid] })
		if len(w.threads) < fewWaiting || !agrees(w.seconds, late) {
			continue
		}
		pid := p.Subject.PID
		return suspect.Finding{Subject: p.Subject, Text: fmt.Sprintf("%s of it wait at times for one lock, or for a signal, at 0x%x", units.Plural(len(w.threads), "thread"), w.address),
			Evidence: []suspect.Evidence{
				{Side: suspect.For, Grade: suspect.Strong, Value: w.seconds, Unit: "s", Source: source.ThreadState.And(source.Turns), Origin: "late answers",
					Text: fmt.Sprintf("threads that work at other times waited there for %s in all, and one in a hundred of its answers took %s: such late ones took %s in all", units.Lasting(w.seconds), units.Short(each), units.Lasting(late))},
				{Side: suspect.Missing, Source: source.LocksOf, Text: "whether it is a lock, and who holds it"},
			},
			Next: fmt.Sprintf("sudo snag find --pid %d", pid)}, true
	}
	return suspect.Finding{}, false
}
