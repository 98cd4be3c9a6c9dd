// Package loops reads the machine code around an instruction and reports whether the loop
// that it lies in does work, or only waits until another thread writes to memory: which
// is what a lock that spins looks like, whatever its name. For x86-64.
package loops

import (
	"cmp"
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"snag/internal/sorting"
)

// Kind is what a loop does.
type Kind string

// Kinds of loops.
const (
	// Works: it stores, calls, computes, or it was not understood.
	Works Kind = ""
	// Waits: all that it does is to read memory, or to try an atomic exchange, and to
	// test what it got. Nothing is carried from one round to the next, so that only a
	// write by somebody else ends it.
	Waits Kind = "waits"
	// Pauses: it holds the instruction that processors have for such loops (pause), and
	// stores and calls nothing. It may count its rounds, as one that backs off does.
	Pauses Kind = "pauses"
	// Tries: it tests the outcome of an atomic operation and does more besides: it may
	// wait, or count. (One that never looks at the outcome counts: it works.)
	Tries Kind = "tries"
)

// Spins tells a loop that waits for another thread.
func (k Kind) Spins() bool { return k == Waits || k == Pauses }

// Loop is a loop of code.
type Loop struct {
	Start, End int // offsets in the code; End is behind the jump back
	Kind       Kind
	Calls      bool   // it calls functions or the kernel
	Text       string // its instructions, those of the way out left out
}

// Reach is how far before and behind an instruction the ends of its loop are looked for,
// bytes. Loops that wait are short: 3 to 60 bytes.
const Reach = 128

// mostText instructions are written out.
const mostText = 8

// Around finds the innermost loop that runs through the instruction at an offset of the
// code; false where there is none within Reach, or the bytes can't be read.
func Around(code []byte, at int) (Loop, bool) {
	if at < 0 || at >= len(code) {
		return Loop{}, false
	}
	var best []step
	for _, back := range jumpsBack(code, at) {
		round := roundOf(code, back.to, back.end, at)
		if len(round) > 0 && (best == nil || len(round) < len(best)) {
			best = round
		}
	}
	if best == nil {
		return Loop{}, false
	}
	first, last := best[0], best[len(best)-1]
	l := Loop{Start: first.at, End: last.at + last.in.Len, Kind: kindOf(best), Text: text(best)}
	for _, s := range best {
		l.Calls = l.Calls || leaves(s.in)
	}
	return l, true
}

// Touches reports whether the instruction at an offset, one of the few behind it or the one
// before it is an atomic operation or a pause. Where there is no loop it may be a
// function that one calls for each try.
func Touches(code []byte, at int) bool {
	if at < 0 || at >= len(code) {
		return false
	}
	const few, longest = 4, 15 // no instruction is longer (Intel SDM 2, 2.3.11)
	near := steps(code, at, len(code))
	near = near[:min(len(near), few)]
	for from := max(0, at-longest); from < at; from++ {
		if in, err := x86asm.Decode(code[from:], 64); err == nil && from+in.Len == at {
			near = append(near, step{from, in})
		}
	}
	for _, s := range near {
		if s.in.Op == x86asm.PAUSE || atomic(s.in) {
			return true
		}
	}
	return false
}

// step is one instruction.
type step struct {
	at int
	in x86asm.Inst
}

// jump is where a jump leads to, and where it ends.
type jump struct{ to, end int }

// jumpsBack are the jumps behind an instruction that lead to it or before it, the
// nearest target first.
func jumpsBack(code []byte, at int) []jump {
	var out []jump
	for _, s := range steps(code, at, min(len(code), at+Reach)) {
		if to, ok := s.target(); ok && to <= at && to >= max(0, at-Reach) {
			out = append(out, jump{to, s.at + s.in.Len})
		}
	}
	sorting.StableBy(out, func(a, b jump) int { return cmp.Compare(a.end-a.to, b.end-b.to) })
	return out
}

// steps decodes from one offset to another, up to what is no instruction.
func steps(code []byte, from, to int) []step {
	var out []step
	for from < to {
		in, err := x86asm.Decode(code[from:], 64)
		if err != nil || in.Len <= 0 {
			break
		}
		out = append(out, step{from, in})
		from += in.Len
	}
	return out
}

// target is where a direct jump leads to.
func (s step) target() (int, bool) {
	if rel, ok := s.in.Args[0].(x86asm.Rel); ok && s.in.Op != x86asm.CALL {
		return s.at + s.in.Len + int(rel), true
	}
	return 0, false
}

// roundOf are the instructions of one round of the loop from a jump's target to its end:
// those that can be reached from there and lead back again. Nil where the instruction at
// at is none of them.
func roundOf(code []byte, from, end, at int) []step {
	all := steps(code, from, end)
	if n := len(all); n == 0 || all[n-1].at+all[n-1].in.Len != end {
		return nil
	}
	index := map[int]int{}
	for i, s := range all {
		index[s.at] = i
	}
	next := make([][]int, len(all))
	before := make([][]int, len(all))
	for i, s := range all {
		for _, to := range s.next() {
			if j, ok := index[to]; ok {
				next[i] = append(next[i], j)
				before[j] = append(before[j], i)
			}
		}
	}
	here, back := reached(next, 0), reached(before, len(all)-1)
	var round []step
	through := false
	for i, s := range all {
		if here[i] && back[i] {
			round = append(round, s)
			through = through || s.at == at
		}
	}
	if !through {
		return nil
	}
	return round
}

// next are the offsets that an instruction may lead to.
func (s step) next() []int {
	behind := s.at + s.in.Len
	to, jumps := s.target()
	switch s.in.Op {
	case x86asm.RET, x86asm.UD2, x86asm.HLT, x86asm.IRET, x86asm.IRETD, x86asm.IRETQ, x86asm.LRET:
		return nil
	case x86asm.JMP:
		if jumps {
			return []int{to}
		}
		return nil
	}
	if jumps {
		return []int{behind, to}
	}
	return []int{behind}
}

// reached are the nodes of a graph that can be reached from one.
func reached(edges [][]int, from int) []bool {
	seen := make([]bool, len(edges))
	seen[from] = true
	for todo := []int{from}; len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, to := range edges[n] {
			if !seen[to] {
				seen[to] = true
				todo = append(todo, to)
			}
		}
	}
	return seen
}

// text writes a round for people; where a jump leads to is left out.
func text(round []step) string {
	var out []string
	for i, s := range round {
		if i == mostText {
			out = append(out, "…")
			break
		}
		if _, ok := s.target(); ok {
			out = append(out, strings.ToLower(s.in.Op.String()))
			continue
		}
		out = append(out, x86asm.IntelSyntax(s.in, 0, nil))
	}
	return strings.Join(out, "; ")
}
