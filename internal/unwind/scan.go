package unwind

import (
	"bytes"
	"encoding/binary"
	"errors"

	"snag/internal/elffile"
)

const (
	// mostScanned words of a stack are looked through for one return address.
	mostScanned = 1024
	// biggest function that a direct call leads into, where its name is not known, bytes.
	biggest = 8192
	// beforeReturn bytes of code show whether they end in a call.
	beforeReturn = 7
)

// callKind is what the code before a return address does.
type callKind uint8

const (
	noCall callKind = iota
	directCall
	indirectCall
)

// callBefore reads the bytes before a return address. to is relative to the return
// address, of a direct call. Intel's manual, volume 2, CALL: E8 with 4 bytes; FF /2 with
// a register, [register], a displacement of 1 or 4 bytes, [rip+displacement].
func callBefore(b [beforeReturn]byte) (kind callKind, to int32) {
	modrm := func(at int) (mod, op, rm byte) { return b[at] >> 6, b[at] >> 3 & 7, b[at] & 7 }
	if b[2] == 0xe8 {
		return directCall, int32(binary.LittleEndian.Uint32(b[3:]))
	}
	for size := 2; size <= 7; size++ { // of the call without its prefixes
		at := beforeReturn - size
		if b[at] != 0xff {
			continue
		}
		mod, op, rm := modrm(at + 1)
		want := 2
		switch {
		case op != 2:
			continue
		case mod == 1:
			want = 3
		case mod == 2, mod == 0 && rm == 5:
			want = 6
		}
		if mod != 3 && rm == 4 { // a byte more says which registers
			want++
		}
		if size == want {
			return indirectCall, 0
		}
	}
	return noCall, 0
}

func returnsTo(code Code, address uint64) (callKind, uint64) {
	var b [beforeReturn]byte
	if address < 4096 || address>>47 != 0 || !code.Read(address-beforeReturn, b[:]) {
		return noCall, 0
	}
	kind, to := callBefore(b)
	return kind, address + uint64(int64(to))
}

// returns reports whether an address is one that a call returns to.
func returns(code Code, address uint64) bool {
	kind, _ := returnsTo(code, address)
	return kind != noCall
}

// calls reports whether the call before the address leads to the function that inside lies
// in. bare: it is one that others call by a pointer within one object, as assembly is.
func calls(code Code, address, inside uint64, bare bool) bool {
	kind, target := returnsTo(code, address)
	switch kind {
	case directCall:
		if target <= inside && inside-target < biggest {
			to, in := code.Function(target), code.Function(inside)
			return to.Name == "" || in.Name == "" || to.Name == in.Name
		}
		// Into another object a call goes through the table of its own object's (PLT).
		return across(code, address, inside) && jumps(code, target)
	case indirectCall:
		// Where to is not written. Within one object the call would have been direct.
		return bare || across(code, address, inside)
	}
	return false
}

// jumps tells an entry of the PLT: it begins with jmp [rip+disp32], before which may
// stand endbr64 and a bnd prefix (System V ABI for AMD64, 5.2; Intel CET).
func jumps(code Code, address uint64) bool {
	var b [8]byte
	if !code.Read(address, b[:]) {
		return false
	}
	c := bytes.TrimPrefix(b[:], []byte{0xf3, 0x0f, 0x1e, 0xfa})
	return bytes.HasPrefix(bytes.TrimPrefix(c, []byte{0xf2}), []byte{0xff, 0x25})
}

func across(code Code, a, b uint64) bool {
	x, y := code.Function(a), code.Function(b)
	return x.Object == "" || x.Object != y.Object
}

const (
	// mostTried words that may be the return address are compared.
	mostTried = 8
	// lookAhead frames are walked from each: what is left of older calls leads nowhere
	// after a few.
	lookAhead = 6
)

// scan looks for the return address on the stack: a word behind a call that leads to the
// function, from which the walk goes on well. It ends at the frame pointer, where that
// points to a frame further out.
func (w *walker) scan(bare bool) (best Registers, found bool) {
	sp, inside := w.at.SP(), w.inside()
	bp, ok := w.at.Get(elffile.RegBP)
	frame := ok && w.isFrame(bp, sp)
	tried, farthest := 0, -1
	for i := range uint64(mostScanned) {
		at := sp + 8*i
		v, ok := w.stack.Word(at)
		if !ok || frame && at >= bp || tried == mostTried {
			break
		}
		if !calls(w.code, v, inside, bare) {
			continue
		}
		next := Registers{value: w.at.value, known: w.at.known & kept}
		next.Set(elffile.RegRA, v)
		next.Set(elffile.RegSP, at+8)
		if !frame {
			w.savedFrame(&next, sp, at)
		}
		tried++
		if n := w.ahead(next); n > farthest {
			best, farthest = next, n
		}
		if farthest == lookAhead {
			break
		}
	}
	return best, farthest >= 0
}

// ahead is how many frames further out are found from one: lookAhead at most, and where
// nothing speaks against it.
func (w *walker) ahead(at Registers) int {
	for n := range lookAhead {
		row, kind := w.code.Row(at.IP() - 1)
		switch {
		case kind == Nowhere:
			return n
		case kind != Told, row.Outermost():
			return lookAhead
		}
		next, err := caller(&at, row, w.stack)
		if errors.Is(err, errBeyond) {
			return lookAhead
		}
		if err != nil || !returns(w.code, next.IP()) {
			return n
		}
		at = next
	}
	return lookAhead
}

// isFrame reports whether an address above above is that of a frame with a frame pointer:
// below a word that stands behind a call.
func (w *walker) isFrame(address, above uint64) bool {
	if address < above || address%8 != 0 {
		return false
	}
	ra, ok := w.stack.Word(address + 8)
	return ok && returns(w.code, ra)
}

// savedFrame looks for the caller's frame pointer among what the function pushed, from
// below its return address on down to the stack pointer.
func (w *walker) savedFrame(next *Registers, sp, below uint64) {
	for at := below - 8; at >= sp && at < below; at -= 8 {
		if v, _ := w.stack.Word(at); v > below && w.isFrame(v, below) {
			next.Set(elffile.RegBP, v)
			return
		}
	}
}
