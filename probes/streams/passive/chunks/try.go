package chunks

import (
	"slices"

	"snag/internal/rtmp"
)

// try follows b from a header with a chunk size, as far as b goes. seed is the
// state of the chunk streams before, as far as it is known.
func (s *searcher) try(b []byte, from int, size uint32, seed []rtmp.State) (t trial) {
	given := len(seed)
	for range 3 {
		t = s.once(b, from, size, seed)
		if t.ok {
			// A guess passes over whatever is there; only where the chunk stream goes
			// on by it was it right.
			for _, st := range seed[given:] {
				t.ok = t.ok && t.seen[st.Chunk&63] >= believedGuess
			}
			return t
		}
		if s.steps <= 0 {
			return t
		}
		st, ok := s.guess(b, t.failed, size, seed)
		if !ok {
			return t
		}
		seed = append(slices.Clone(seed), st)
	}
	return t
}

func (s *searcher) once(b []byte, from int, size uint32, seed []rtmp.State) (t trial) {
	t.size, t.failed, t.last, t.seed = size, from, from, seed
	s.p.Reset()
	s.p.Strict = true
	if s.p.SetChunkSize(size) != nil {
		return t
	}
	var long longIDs
	for _, st := range seed {
		if s.p.Seed(st) != nil {
			return t
		}
	}
	var before uint32
	for pos := from; pos < len(b); {
		if s.steps <= 0 {
			return t
		}
		n, m, err := s.p.Next(b[pos:])
		s.steps -= 64 + 8*n/int(size)
		if err != nil {
			return t
		}
		pos += n
		if m == nil {
			break
		}
		if !plausible(m) {
			return t
		}
		t.longest = max(t.longest, before)
		before = m.Length
		if m.Type != rtmp.TypeSetChunkSize && m.Length > 0 {
			parts := int((m.Length - 1) / s.p.ChunkSize())
			t.splits += parts
			t.bits += parts * bitsGoesOn
		}
		if media(m.Type) {
			if b[t.failed]>>6 <= 1 {
				t.bits += bitsFull
			} else {
				t.bits += bitsShort
			}
			long.note(m.Chunk)
		}
		if m.Chunk < uint32(len(t.seen)) && t.seen[m.Chunk] < believedGuess {
			t.seen[m.Chunk]++
		}
		if t.count < len(t.ends) {
			t.ends[t.count] = pos
		}
		t.count++
		t.last, t.failed = t.failed, pos
	}
	t.size = s.p.ChunkSize()
	t.ok = long.repeat() && s.open(&t)
	return t
}

// longIDs counts the media messages of chunk streams whose id takes two or three
// bytes (RTMP 1.0, 5.3.1.1). Where a chunk size is left out that split a message, the
// parser is a byte or two early at the next header: the last bytes of a picture, one of
// 64, and the true header's first byte then look like such an id, and all that follows
// is right. A stream that is there sends again.
type longIDs struct {
	ids [4]uint32
	n   [4]int
}

func (l *longIDs) note(id uint32) {
	if id < 64 {
		return
	}
	for i := range l.ids {
		if l.n[i] == 0 || l.ids[i] == id {
			l.ids[i] = id
			l.n[i]++
			return
		}
	}
}

// repeat reports whether none of them was seen only once.
func (l *longIDs) repeat() bool { return !slices.Contains(l.n[:], 1) }

// open judges the messages that b ends in.
func (s *searcher) open(t *trial) bool {
	s.states = s.p.States(s.states[:0])
	for _, st := range s.states {
		if !st.Open {
			continue
		}
		if st.Length > maxVideo {
			return false
		}
		if n := int(st.Got / t.size); n > 0 {
			t.splits += n - 1
			t.bits += (n - 1) * bitsGoesOn
		}
	}
	return true
}

// believedGuess messages of a guessed length prove it.
const believedGuess = 4

// maxGuess is the longest block of audio whose length is guessed.
const maxGuess = 4 << 10

// guess is for audio of one size (silence, constant bit rate): its sender never
// says the length again. Where b has, at its chunk stream's first message, a header
// of format 2 with what audio begins with, the length is up to the next header that
// is not to be mistaken.
func (s *searcher) guess(b []byte, at int, size uint32, seed []rtmp.State) (st rtmp.State, ok bool) {
	if at+6 >= len(b) || b[at]>>6 != 2 || b[at]&0x3f < 2 {
		return st, false
	}
	chunk, step, start := uint32(b[at]&0x3f), uint24(b[at+1:]), at+4
	known := func(x rtmp.State) bool { return x.Chunk == chunk }
	s.states = s.p.States(s.states[:0])
	if step > maxStep || slices.ContainsFunc(seed, known) || slices.ContainsFunc(s.states, known) ||
		!begins(rtmp.TypeAudio, b[start:]) {
		return st, false
	}
	s.steps -= 1 << 10
	for q := start + 1; q < min(start+maxGuess, len(b)); q++ {
		if _, _, ok := anchor(b[q:]); !ok && !again(b, at, q) {
			continue
		}
		n := uint32(q - start)
		n -= n / (size + 1) // the headers between its chunks
		st.Header = rtmp.Header{Chunk: chunk, Type: rtmp.TypeAudio, Stream: 1, Length: n}
		st.Field = step
		return st, true
	}
	return st, false
}

// again reports whether at q another message begins as the one at at did: the same
// header of format 2 but for its delta, and the same first bytes.
func again(b []byte, at, q int) bool {
	return q+6 <= len(b) && b[q] == b[at] && b[q+4] == b[at+4] && b[q+5] == b[at+5] && uint24(b[q+1:]) < maxStep>>6
}

// header reads a message's header of any format; the state before says what it
// leaves out.
func header(b []byte, seed []rtmp.State) (head int, length uint32, ok bool) {
	if head, length, ok = anchor(b); ok {
		return head, length, true
	}
	if len(b) == 0 || b[0]>>6 < 2 || b[0]&0x3f < 2 {
		return 0, 0, false
	}
	for _, st := range seed {
		if st.Chunk == uint32(b[0]&0x3f) && !st.Extended {
			return [4]int{12, 8, 4, 1}[b[0]>>6], st.Length, true
		}
	}
	return 0, 0, false
}
