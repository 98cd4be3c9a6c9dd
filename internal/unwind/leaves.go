package unwind

import (
	"errors"
)

// Leaves mends a walk by frame pointers, which misses the callers of functions that set
// up none: C libraries' above all. chain is that walk, innermost first, as the kernel
// made it; the copy holds the top of the stack. The frames up to the first one that the
// frame pointer belongs to are walked by call frame information; from there on the chain
// is right.
func Leaves(code Code, at Registers, s Stack, chain []uint64, most int) Walk {
	w := &walker{code: code, at: at, stack: s, most: most, exact: true, chain: chain, start: at.BP()}
	for len(w.Addresses) < most {
		row, kind := code.Row(w.inside())
		if kind == Nowhere {
			break
		}
		w.note(row)
		if kind == Told && row.Outermost() {
			w.End = EndWhole
			return w.Walk
		}
		keeps := w.onChain() && (kind == FramePointers || kind == Told && keepsFrame(row))
		if keeps && w.keeps(chain[1]) {
			return w.join()
		}
		next, err := w.step(row, kind)
		if err != nil {
			// A walk by frame pointers that led somewhere is better than none: it misses
			// a caller or two.
			if w.onChain() && returns(code, chain[1]) {
				if n := len(w.Addresses); !keeps && n > 1 && chain[1] == w.Addresses[n-1] {
					w.chain = chain[1:] // it had this one after all
				}
				return w.join()
			}
			if errors.Is(err, errBeyond) {
				w.End = EndCopy
			}
			return w.Walk
		}
		if keeps && next.IP() == chain[1] { // one link further
			chain = chain[1:]
			w.chain, w.start = chain, next.BP()
		}
		w.at, w.exact = next, kind == Told && row.Signal || kind != Told && w.returnsFromSignal()
	}
	switch {
	case len(w.Addresses) >= most:
		w.End = EndDeep
	case len(w.Addresses) == 0:
		w.Addresses = chain
	}
	return w.Walk
}

// keeps reports whether a caller is code that keeps frame pointers itself, so that the
// chain goes on rightly from it.
func (w *walker) keeps(address uint64) bool {
	row, kind := w.code.Row(address - 1)
	return kind == FramePointers || kind == Silent || kind == Told && keepsFrame(row)
}

// join goes on with the callers that the walk by frame pointers has.
func (w *walker) join() Walk {
	rest := w.chain[1:]
	w.Addresses = append(w.Addresses, rest[:min(len(rest), w.most-len(w.Addresses))]...)
	if len(w.Addresses) >= w.most {
		w.End = EndDeep
	}
	return w.Walk
}
