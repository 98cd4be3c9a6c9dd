package perf

import (
	"bytes"
	"math/bits"
)

// known are lines that were read before, by their hashes. One takes the place of another
// whose hash ends the same: what a profile is mostly of comes again at once, and a look
// costs no more than one place in memory.
type known struct {
	frames  []knownLine
	callers []callerLines
	held    []int32 // the callers' frames
	stacks  []stackLines
	thinned int // how often the tally had made room when they were known
}

type knownLine struct {
	hash uint64 // of the line; 0: none
	id   int32
}

type callerLines struct {
	hash     uint64 // of all lines but the first
	from, to int32  // in held
}

type stackLines struct {
	hash  uint64 // of all lines
	stack int32  // its number
}

// Places, each a power of two, and how many frames of callers are held. Once those are
// full, all are forgotten.
const (
	mostLines   = 1 << 17 // each address of a function has one
	mostBlocks  = 1 << 16
	mostCallers = 1 << 20
)

func newKnown() known {
	return known{frames: make([]knownLine, mostLines), callers: make([]callerLines, mostBlocks), stacks: make([]stackLines, mostBlocks)}
}

func (k *known) keepCallers(hash uint64, ids []int32) {
	if hash == 0 {
		return
	}
	if len(k.held)+len(ids) > mostCallers {
		clear(k.callers)
		k.held = k.held[:0]
	}
	from := len(k.held)
	k.held = append(k.held, ids...)
	k.callers[hash%mostBlocks] = callerLines{hash: hash, from: int32(from), to: int32(len(k.held))}
}

// callersOf are the frames of all lines but the first; false: they are not known. Without
// such lines there are none.
func (k *known) callersOf(hash uint64) ([]int32, bool) {
	if hash == 0 {
		return nil, true
	}
	c := &k.callers[hash%mostBlocks]
	if c.hash != hash {
		return nil, false
	}
	return k.held[c.from:c.to], true
}

// both is the hash of a block's lines.
func (p *part) both() uint64 { return p.hash ^ bits.RotateLeft64(p.callers, 32) }

// idOf is the number of a line's frame; false: it has none.
func (l *lines) idOf(hash uint64, line []byte) (int32, bool) {
	place := &l.known.frames[hash%mostLines]
	if place.hash == hash {
		return place.id, true
	}
	f, ok := parseFrame(line)
	if !ok {
		return 0, false
	}
	id := l.id(f)
	*place = knownLine{hash, id}
	return id, true
}

// again takes all frames of a sample whose callers were seen before; false: they were
// not.
func (l *lines) again(p part, data []byte) bool {
	if k := &l.known; k.thinned != l.thinned {
		clear(k.stacks) // their numbers may be others' now
		k.thinned = l.thinned
	}
	key := p.both()
	place := &l.known.stacks[key%mostBlocks]
	if place.hash == key && place.stack > 0 {
		l.found = l.order[place.stack-1]
	} else {
		callers, ok := l.known.callersOf(p.callers)
		if !ok {
			return false
		}
		id, ok := l.idOf(p.hash, bytes.TrimRight(data[p.start:p.second], "\r\n"))
		if !ok {
			return false
		}
		l.stack = append(append(l.stack, id), callers...)
		if l.found = l.stackOf(l.stack); l.found != nil {
			*place = stackLines{key, int32(l.found.id)}
		}
	}
	l.close()
	return true
}
