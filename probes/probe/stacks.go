package probe

import (
	"crypto/sha256"
	"strings"
	"sync"

	"snag/recording"
)

// firstStack is above the ids that the kernel's own maps of stacks hand out (drops).
const firstStack = 1 << 20

// Stacks gives each different stack one id, and writes it to its table the first
// time. Bounded: beyond it a stack is 0, and Left counts them. Safe for
// concurrent use.
type Stacks struct {
	mu   sync.Mutex
	sink recording.Sink
	ids  map[[sha256.Size]byte]int // by their text's sum: the text of many takes megabytes
	max  int
	next int // how many ids were handed out
	left uint64

	round *Rotation
	known uint64
}

// NewStacks writes to sink, most different stacks at most.
func NewStacks(sink recording.Sink, most int) *Stacks {
	return &Stacks{sink: sink, ids: map[[sha256.Size]byte]int{}, max: most}
}

// manyStacks have an id at the beginning of a round at the most: more are forgotten, and those that
// come again get another.
const manyStacks = 8000

// In bounds what is kept where rounds follow each other for days.
func (t *Stacks) In(r *Rotation) *Stacks {
	t.round = r
	return t
}

// ID returns the stack's id; s.ID is not looked at. A stack without frames is 0.
func (t *Stacks) ID(s recording.Stack) int {
	if len(s.Frames) == 0 {
		return 0
	}
	key := sha256.Sum256([]byte(strings.Join(s.Frames, "\n") + "\x00" + strings.Join(s.Objects, "\n") + "\x00" + s.Cut))
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.round.Next(&t.known) && len(t.ids) > manyStacks {
		clear(t.ids)
	}
	if id, ok := t.ids[key]; ok {
		return id
	}
	if len(t.ids) >= t.max {
		t.left++
		return 0
	}
	s.ID = firstStack + t.next
	t.next++
	t.ids[key] = s.ID
	t.sink.Append(s)
	return s.ID
}

// Left counts the stacks that found no room.
func (t *Stacks) Left() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.left
}
