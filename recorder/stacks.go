package recorder

import (
	"maps"
	"strings"

	"snag/recording"
)

// stacks are the stacks that a later row may refer to. There are thousands, of functions that are mostly the
// same: each name is kept once.
type stacks struct {
	known map[int]knownStack
	ids   map[string]uint32
	names []string
}

// knownStack is a stack, with names by number.
type knownStack struct {
	row             recording.Stack // without what follows
	frames, objects []uint32
}

func newStacks() *stacks { return &stacks{known: map[int]knownStack{}, ids: map[string]uint32{}} }

func (s *stacks) put(row recording.Stack) {
	k := knownStack{row: row, frames: s.numbers(row.Frames), objects: s.numbers(row.Objects)}
	k.row.Frames, k.row.Objects = nil, nil
	s.known[row.ID] = k
}

func (s *stacks) get(id int) (recording.Stack, bool) {
	k, ok := s.known[id]
	k.row.Frames, k.row.Objects = s.texts(k.frames), s.texts(k.objects)
	return k.row, ok
}

func (s *stacks) numbers(texts []string) (out []uint32) {
	if texts != nil {
		out = make([]uint32, len(texts))
	}
	for i, text := range texts {
		n, known := s.ids[text]
		if !known {
			n = uint32(len(s.names))
			text = strings.Clone(text) // it may be part of a larger text
			s.names, s.ids[text] = append(s.names, text), n
		}
		out[i] = n
	}
	return out
}

func (s *stacks) texts(numbers []uint32) (out []string) {
	if numbers != nil {
		out = make([]string, len(numbers))
	}
	for i, n := range numbers {
		out[i] = s.names[n]
	}
	return out
}

// mostKnown stacks are kept in memory. Beyond that, stacks that the last two pieces did not use are
// dropped; a later row that refers to one has no stack.
const mostKnown = 8000

// prune drops stacks that are not in use if there are too many, and names that no stack has.
func (s *stacks) prune(used ...map[int]bool) {
	if len(s.known) <= mostKnown {
		return
	}
	left := newStacks()
	for id := range maps.Keys(s.known) {
		for _, in := range used {
			if in[id] {
				row, _ := s.get(id)
				left.put(row)
				break
			}
		}
	}
	*s = *left
}
