package chunks

import (
	"slices"

	"snag/internal/rtmp"
)

// firstSearch is how many bytes are worth a search: some messages of audio.
const firstSearch = 2 << 10

// search begins to search: all that was known is let go but the chunk size.
func (f *Follower) search() {
	f.phase, f.trust = searching, false
	f.release()
	f.next, f.skip, f.tries = firstSearch, 0, 0
}

func (f *Follower) release() {
	if f.held != nil {
		f.pool.put(f.held)
	}
	f.held, f.marks = nil, f.marks[:0]
}

// hold keeps bytes while they are searched.
func (f *Follower) hold(at int64, b []byte) bool {
	var ok bool
	if f.held, ok = f.pool.grow(f.held, b); !ok {
		return false // too many searches at once: later
	}
	if n := len(f.marks); n > 0 && f.marks[n-1].at == at {
		f.marks[n-1].to = len(f.held)
	} else {
		f.marks = append(f.marks, mark{len(f.held), at})
	}
	return true
}

// drop lets the first n held bytes go.
func (f *Follower) drop(n int) {
	f.held = f.held[:copy(f.held, f.held[n:])]
	i := 0
	for i < len(f.marks) && f.marks[i].to <= n {
		i++
	}
	f.marks = slices.Delete(f.marks, 0, i)
	for i := range f.marks {
		f.marks[i].to -= n
	}
}

// gather holds bytes and searches from time to time.
func (f *Follower) gather(at int64, b []byte) {
	if f.skip > 0 {
		n := min(f.skip, len(b))
		b, f.skip = b[n:], f.skip-n
	}
	for len(b) > 0 {
		n := min(len(b), max(f.next-len(f.held), 1)) // a long segment, a search at a time
		if !f.hold(at, b[:n]) {
			return
		}
		b = b[n:]
		if len(f.held) < f.next {
			return
		}
		if f.phase == settling {
			f.settle()
		} else {
			f.find(at)
		}
		if f.phase == following {
			if len(b) > 0 {
				f.take(at, b)
			}
			return
		}
	}
}

func (f *Follower) find(at int64) {
	var hint uint32
	if f.size > rtmp.FirstChunkSize {
		hint = f.size
	}
	if l, ok := f.pool.s.search(f.held, hint); ok {
		f.out.Locked(at, len(f.held))
		f.drop(l.at)
		f.seed = f.seed[:0]
		f.learn(l)
		f.replay()
		return
	}
	if len(f.held) < searched {
		f.next = len(f.held) + min(max(len(f.held)/2, firstSearch), 16<<10)
		return
	}
	// Not RTMP, encrypted, or a picture longer than what was searched: less and
	// less is spent on it, but it is never given up.
	f.tries++
	f.skip = searched << min(f.tries, 6)
	f.release()
	f.next = firstSearch
}

// learn takes what a search found.
func (f *Follower) learn(l lock) {
	f.size, f.sizes, f.bound = 0, append(f.sizes[:0], l.sizes...), l.bound
	if len(l.sizes) == 1 {
		f.size, f.sizes = l.sizes[0], f.sizes[:0]
	}
	if len(f.seed) == 0 {
		f.seed = append(f.seed, l.seed...)
	}
}

// settle looks whether the chunk size shows by now.
func (f *Follower) settle() {
	f.pool.s.steps = budget
	l, ok := f.pool.s.settle(f.held, f.seed, f.bound, f.sizes)
	switch {
	case ok:
		f.learn(l)
		f.trust = true
		f.replay()
	case len(f.held) >= maxHeld:
		f.search()
	default:
		f.next = len(f.held) + max(8<<10, len(f.held)/4)
	}
}

// restart sets the parser to the beginning of held.
func (f *Follower) restart() {
	f.p.Reset()
	f.p.Strict = true
	size := f.size
	if size == 0 {
		size = unlimited
		if len(f.sizes) > 0 {
			size = f.sizes[0]
		}
	}
	if f.p.SetChunkSize(size) != nil {
		return
	}
	for _, st := range f.seed {
		if f.p.Seed(st) != nil {
			return
		}
	}
}

// replay gives what was held to the parser, with the times at which it came.
func (f *Follower) replay() {
	f.restart()
	f.phase, f.tries, f.skip = following, 0, 0
	held, marks := f.held, slices.Clone(f.marks)
	f.held, f.marks, f.whole = nil, f.marks[:0], true
	f.again(held, marks)
}

func (f *Follower) again(held []byte, marks []mark) {
	from := 0
	for _, m := range marks {
		f.take(m.at, held[from:m.to])
		from = m.to
	}
	f.pool.put(held)
}

// unsure follows while the chunk size is not known: what came since the last
// message is held, for the day a message is longer than any before.
func (f *Follower) unsure(at int64, b []byte) {
	for len(b) > 0 {
		n, m, err := f.p.Next(b)
		if f.whole {
			f.whole = f.hold(at, b[:n])
		}
		b = b[n:]
		if err != nil || m != nil && !plausible(m) {
			if len(f.sizes) > 1 && f.whole && !f.trust {
				// One of the sizes that were possible is not the one: a segment had
				// the whole message, so that nothing asked before.
				f.phase, f.next = settling, len(f.held)+1
			} else {
				f.search()
			}
			if len(b) > 0 {
				f.gather(at, b)
			}
			return
		}
		if !f.trust && (f.longest() > f.bound || m != nil && m.Length > f.bound) {
			// It may go on where the parser takes it to, or be split before. A whole
			// message that is too long is judged like one on its way.
			if !f.whole {
				f.search()
			} else {
				f.phase, f.next = settling, len(f.held)+1
			}
			if len(b) > 0 {
				f.gather(at, b)
			}
			return
		}
		if m == nil {
			continue
		}
		f.trust = f.trust && f.longest() > f.bound // another may come before the one that was judged has ended
		told := m.Type == rtmp.TypeSetChunkSize
		f.out.Message(at, m)
		if told {
			f.size = f.p.ChunkSize()
			f.release()
			f.follow(at, b)
			return
		}
		f.boundary()
	}
}

// boundary notes the state where a message ended and no other is on its way.
func (f *Follower) boundary() {
	if f.size != 0 {
		return
	}
	f.pool.s.states = f.p.States(f.pool.s.states[:0])
	for _, st := range f.pool.s.states {
		if st.Open {
			return
		}
	}
	f.seed = append(f.seed[:0], f.pool.s.states...)
	if f.held != nil {
		f.held = f.held[:0]
	}
	f.marks, f.whole = f.marks[:0], true
}

// longest is the length of the longest message on its way.
func (f *Follower) longest() uint32 {
	var n uint32
	f.pool.s.states = f.p.States(f.pool.s.states[:0])
	for _, st := range f.pool.s.states {
		if st.Open {
			n = max(n, st.Length)
		}
	}
	return n
}
