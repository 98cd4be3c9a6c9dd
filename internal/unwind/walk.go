package unwind

import (
	"bytes"
	"errors"

	"snag/internal/elffile"
)

// Kind says how the frames of the code at an address are found.
type Kind uint8

// Values of Kind.
const (
	Nowhere       Kind = iota // nothing that can run is mapped there
	FramePointers             // nothing but frame pointers tells: Go, code made at run time
	Silent                    // its file has no call frame information: musl's C library, stripped ones
	Bare                      // hand-written: its file has call frame information, but not for it
	Told                      // there is call frame information for it
	Trampoline                // one of Python's: see trampoline
)

// Function is the function that an address lies in, as far as that is known.
type Function struct {
	Object string // the file; "" none
	Name   string // "" not known
}

// Code is what is known of a process' code.
type Code interface {
	// Row is the call frame information for an address, where its kind is Told. It is
	// not changed.
	Row(address uint64) (*elffile.Row, Kind)
	// Read fills b with the machine code at an address; false where it can't be read.
	Read(address uint64, b []byte) bool
	Function(address uint64) Function
}

// End is how a walk ended.
type End uint8

// Values of End.
const (
	EndUnknown End = iota // nothing tells the caller; the names of the frames may
	EndWhole              // at the thread's first frame
	EndCopy               // at the end of the copy
	EndDeep               // there were more frames than were asked for
)

// Walk is what a walk found.
type Walk struct {
	// Addresses are as a walk in the kernel gives them: the innermost is the
	// instruction that runs, the others are where calls return to. What a signal
	// interrupted is one more than it was, so that one less lies in it for all of them.
	Addresses []uint64
	End       End
	// Guess is the first frame that was found by what looks like a return address:
	// those from it on may be wrong. 0: none was.
	Guess int
}

type walker struct {
	Walk
	code  Code
	at    Registers
	stack Stack
	most  int
	exact bool // the address is that of an instruction, not one that a call returns to
	// chain is a walk by frame pointers, which began at start.
	chain []uint64
	start uint64
}

// onChain reports whether the frame pointer is still the one that the chain began at.
func (w *walker) onChain() bool {
	bp, ok := w.at.Get(elffile.RegBP)
	return ok && bp == w.start && len(w.chain) > 1
}

// inside is an address in the call, or the instruction, of the frame that is walked.
func (w *walker) inside() uint64 {
	if ip := w.at.IP(); !w.exact && ip > 0 {
		return ip - 1
	}
	return w.at.IP()
}

// Full walks a copy of a stack that begins at the stack pointer, most frames at most.
func Full(code Code, at Registers, s Stack, most int) Walk {
	w := &walker{code: code, at: at, stack: s, most: most, exact: true}
	for w.End == EndUnknown && len(w.Addresses) < most {
		row, kind := code.Row(w.inside())
		if kind == Nowhere {
			if len(w.Addresses) == 0 {
				w.Addresses = append(w.Addresses, at.IP())
			}
			return w.Walk
		}
		w.note(row)
		if kind == Told && row.Outermost() {
			w.End = EndWhole
			return w.Walk
		}
		next, err := w.step(row, kind)
		switch {
		case errors.Is(err, errBeyond):
			w.End = EndCopy
			return w.Walk
		case err != nil:
			return w.Walk
		}
		w.at, w.exact = next, kind == Told && row.Signal || kind != Told && w.returnsFromSignal()
	}
	w.End = EndDeep
	return w.Walk
}

// note keeps the frame's address.
func (w *walker) note(row *elffile.Row) {
	at := w.at.IP()
	if len(w.Addresses) > 0 && (w.exact || row != nil && row.Signal) {
		at++ // a handler's return address is the trampoline's first instruction
	}
	w.Addresses = append(w.Addresses, at)
}

// step finds the caller, of one kind of code by another way where the first one ends.
func (w *walker) step(row *elffile.Row, kind Kind) (Registers, error) {
	var next Registers
	var err error
	switch {
	case kind == Told:
		next, err = caller(&w.at, row, w.stack)
	case w.returnsFromSignal():
		return interrupted(&w.at, w.stack)
	case kind == Trampoline:
		return trampoline(&w.at, w.stack)
	case kind == FramePointers:
		return byFramePointer(&w.at, w.stack)
	default:
		return w.guess(kind == Bare)
	}
	if err == nil && w.runs(&next, row.Signal) || errors.Is(err, errBeyond) {
		return next, err
	}
	if next.IP() == 0 && err == nil {
		return next, errUnknown // the first frame of a thread that has no such information
	}
	return w.guess(false)
}

// runs reports whether there is code where a call returns to.
func (w *walker) runs(at *Registers, exact bool) bool {
	address := at.IP()
	if !exact {
		address--
	}
	_, kind := w.code.Row(address)
	return kind != Nowhere
}

// guess looks for a return address on the stack, and by the frame pointer.
func (w *walker) guess(bare bool) (Registers, error) {
	next, ok := w.scan(bare)
	if !ok && w.onChain() {
		return next, errUnknown
	}
	if !ok {
		var err error
		if next, err = byFramePointer(&w.at, w.stack); err != nil {
			return next, err
		}
		if !returns(w.code, next.IP()) {
			return next, errUnknown
		}
	}
	if w.Guess == 0 {
		w.Guess = len(w.Addresses)
	}
	return next, nil
}

// returnsFromSignal reports whether the frame is the code that a signal's handler returns
// to.
func (w *walker) returnsFromSignal() bool {
	var b [len(sigreturn)]byte
	return len(w.Addresses) > 0 && w.code.Read(w.at.IP(), b[:]) && bytes.Equal(b[:], sigreturn[:])
}
