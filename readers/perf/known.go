package perf

import (
	"bytes"
	"math/bits"
)

// known are lines that were read before, by their hashes.
type known struct {
	frames  map[uint64]int32 // by a line's
	callers map[uint64]span  // by that of all lines but the first
	held    []int32          // their frames
	stacks  map[uint64]int32 // by both; their numbers
}

// span is a part of held.
type span struct{ from, to int32 }

// Bounds of each. Once one is full it begins anew: what a profile is mostly of comes
// again at once.
const (
	mostLines   = 1 << 17 // each address of a function has one
	mostBlocks  = 1 << 16
	mostCallers = 1 << 20 // frames
)

func newKnown() known {
	return known{frames: map[uint64]int32{}, callers: map[uint64]span{}, stacks: map[uint64]int32{}}
}

func (k *known) keepFrame(hash uint64, id int32) {
	if len(k.frames) >= mostLines {
		clear(k.frames)
	}
	k.frames[hash] = id
}

func (k *known) keepCallers(hash uint64, ids []int32) {
	if len(k.held)+len(ids) > mostCallers || len(k.callers) >= mostBlocks {
		clear(k.callers)
		k.held = k.held[:0]
	}
	from := len(k.held)
	k.held = append(k.held, ids...)
	k.callers[hash] = span{int32(from), int32(len(k.held))}
}

func (k *known) keepStack(hash uint64, s *stack) {
	if len(k.stacks) >= mostBlocks {
		clear(k.stacks)
	}
	k.stacks[hash] = int32(s.id)
}

// both is the hash of a block's lines.
func (p *part) both() uint64 { return p.hash ^ bits.RotateLeft64(p.callers, 32) }

// idOf is the number of a line's frame; false: it has none.
func (l *lines) idOf(hash uint64, line []byte) (int32, bool) {
	if id, ok := l.known.frames[hash]; ok {
		return id, true
	}
	f, ok := parseFrame(line)
	if !ok {
		return 0, false
	}
	id := l.id(f)
	l.known.keepFrame(hash, id)
	return id, true
}

// again takes all frames of a sample whose callers were seen before; false: they were
// not.
func (l *lines) again(p part, data []byte) bool {
	key := p.both()
	if n, ok := l.known.stacks[key]; ok {
		l.found = l.order[n-1]
	} else {
		callers, ok := l.known.callers[p.callers]
		if !ok {
			return false
		}
		line := bytes.TrimRight(data[p.start:p.second], "\r\n")
		id, ok := l.idOf(p.hash, line)
		if !ok {
			return false
		}
		l.stack = append(append(l.stack, id), l.known.held[callers.from:callers.to]...)
		if l.found = l.stackOf(l.stack); l.found != nil {
			l.known.keepStack(key, l.found)
		}
	}
	l.close()
	return true
}
