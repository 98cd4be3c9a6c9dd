package chunks

import (
	"slices"

	"snag/internal/rtmp"
)

// How sure a search must be, in bits: how unlikely random bytes would pass. 128 KiB
// have some hundred anchors, each with some hundred chunk sizes (2^15): 64 bits
// leave one wrong lock in 2^49 searches.
const (
	enough     = 64
	bitsFull   = 24 // a message that begins with format 0 or 1: type, length, first bytes
	bitsShort  = 12 // formats 2 and 3: a chunk stream that was seen, first bytes
	bitsGoesOn = 8  // a chunk that goes on exactly where one must

	unlimited = rtmp.MaxChunkSize // "no message was split": the chunk size is not known
	minSize   = 128               // RTMP 1.0, 5.4.1: the first chunk size; no sender is seen below it
	maxSize   = 65536
	budget    = 1 << 20 // of one search, so that hostile bytes cost little
)

// lock is where a chain of chunks begins and what is known of it.
type lock struct {
	at    int      // of the first header
	sizes []uint32 // that the chunks may have; none: any over bound
	bound uint32   // messages up to here are not split
	seed  []rtmp.State
}

// searcher finds chunks in the middle of a connection. Its parser is used again.
type searcher struct {
	p      rtmp.Parser
	steps  int
	states []rtmp.State
}

// trial is what following one guess gave.
type trial struct {
	ok      bool
	bits    int
	ends    [8]int // where the first messages end
	count   int    // of whole messages
	longest uint32 // message that was not split, and was followed by another
	splits  int    // chunks that went on from one before
	last    int    // where the last whole message began
	failed  int    // where the message began that can't be, or is not whole
	size    uint32
	seed    []rtmp.State
	seen    [64]uint8 // messages by chunk stream, up to believedGuess
}

func (t *trial) sure() bool { return t.ok && t.bits >= enough }

// search looks for a lock in b. hint is the chunk size where that is known, else
// 0.
func (s *searcher) search(b []byte, hint uint32) (lock, bool) {
	s.steps = budget
	for i := 0; i+14 < len(b) && s.steps > 0; i++ {
		if b[i]>>6 > 1 {
			continue
		}
		if _, _, ok := anchor(b[i:]); !ok {
			continue
		}
		if hint > 0 {
			if at, t, ok := s.confirm(b, s.try(b, i, hint, nil)); ok {
				return lock{at: at, sizes: []uint32{t.size}, seed: t.seed}, true
			}
			continue
		}
		if at, ok := s.from(b, i); ok {
			if l, ok := s.settle(b[at:], nil, 0, nil); ok {
				l.at = at
				return l, true
			}
		}
	}
	return lock{}, false
}

// from tries one anchor with every chunk size that it allows, and returns where a
// chain begins that can be believed.
func (s *searcher) from(b []byte, i int) (at int, ok bool) {
	t := s.try(b, i, unlimited, nil)
	if at, _, ok = s.confirm(b, t); ok {
		return at, true
	}
	s.suspects(b, &t, func(size uint32) bool {
		at, _, ok = s.confirm(b, s.try(b, i, size, nil))
		return !ok
	})
	return at, ok
}

// confirm believes a trial only from its second message on: its first header may
// be payload that happens to point at a real one. So what is believed begins at a
// header to which a chain leads, and stands without the state of what was before.
func (s *searcher) confirm(b []byte, t trial) (at int, u trial, ok bool) {
	if !t.sure() {
		return 0, u, false
	}
	for _, end := range t.ends[:min(t.count, len(t.ends))] {
		if end >= len(b) || b[end]>>6 > 1 {
			continue // its length is known from before
		}
		if u = s.try(b, end, t.size, nil); u.sure() {
			return end, u, true
		}
	}
	return 0, u, false
}

// suspects gives the chunk sizes with which a trial without any may go on: it
// failed at a message that was split, or at the one after that.
func (s *searcher) suspects(b []byte, t *trial, try func(uint32) bool) {
	for n, at := range [2]int{t.last, t.failed} {
		if at >= len(b) || n == 1 && t.count == 0 {
			return
		}
		if head, length, ok := header(b[at:], t.seed); ok && !s.sizes(b, at, head, length, t.longest, try) {
			return
		}
	}
}

// sizes gives the chunk sizes by which a message may have been split: those after
// which a chunk of it, or of another message, begins. It stops where try says so.
func (s *searcher) sizes(b []byte, at, head int, length, bound uint32, try func(uint32) bool) bool {
	csid := b[at] & 0x3f
	start := at + head
	most := min(start+maxSize, start+int(length)-1, len(b)-1)
	for q := start + max(minSize, int(bound)); q <= most && s.steps > 0; q++ {
		if b[q] != 0xc0|csid {
			if b[q]>>6 > 1 {
				continue
			}
			if _, _, ok := anchor(b[q:]); !ok {
				continue
			}
		}
		if !try(uint32(q - start)) {
			return false
		}
	}
	return true
}

// settle finds the chunk sizes that are possible for b, which begins with a
// message's header; seed is the state before it. sizes are those that were possible
// so far, none: any over bound. Several may be: a message that was split once looks
// the same wherever a byte in it looks like a chunk's header; the next such message
// tells nearly all of them apart. ok is false while b is too short to tell, or
// where nothing fits, or once the search's budget is used up.
func (s *searcher) settle(b []byte, seed []rtmp.State, bound uint32, sizes []uint32) (l lock, ok bool) {
	guessed, best, fewest := false, 0, 0
	fits := func(size uint32) bool {
		if u := s.try(b, 0, size, seed); u.sure() && len(l.sizes) < 1024 && !slices.Contains(l.sizes, u.size) {
			// A size of which every second header is another's fits too, and leaves the
			// rest unexplained: the likelier stay.
			if u.bits > best+bitsFull {
				l.sizes = l.sizes[:0]
			}
			best = max(best, u.bits)
			if u.bits >= best-bitsFull {
				guessed = len(u.seed) != len(seed)
				l.sizes, l.seed = append(l.sizes, u.size), u.seed
				// First, to go on with, comes what takes no byte of a picture for
				// another message's header: senders hardly ever put one in between.
				if n := len(l.sizes) - 1; n == 0 || u.count < fewest {
					l.sizes[0], l.sizes[n], fewest = l.sizes[n], l.sizes[0], u.count
				}
			}
		}
		return true
	}
	if len(sizes) > 0 {
		for _, size := range sizes {
			fits(size)
		}
	} else {
		t := s.try(b, 0, unlimited, seed)
		if t.sure() && (len(seed) == 0 || t.count > 1) {
			if t.size != unlimited { // it was told on the way
				l.sizes = []uint32{t.size}
			}
			l.seed, l.bound = t.seed, max(bound, t.longest)
			return l, true
		}
		t.longest = max(t.longest, bound)
		s.suspects(b, &t, fits)
	}
	// A picture's bytes may look like another message's header, and be one more
	// message than there is: until one more came, that alone would be believed.
	if len(l.sizes) == 0 || best < enough+bitsFull || guessed && len(l.sizes) > 1 { // a guess goes with one size
		return l, false
	}
	l.bound = bound
	least := l.sizes[0]
	for _, size := range l.sizes {
		least = min(least, size)
	}
	l.bound = max(bound, least)
	return l, true
}
