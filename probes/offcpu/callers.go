package offcpu

import (
	"bytes"
	"encoding/binary"

	"snag/probes/symbols"
)

// process is what the search for callers reads of one.
type process struct {
	code  func(address uint64, b []byte) bool
	frame func(address uint64) symbols.Frame
}

// mostMissed callers are looked for: a call of the C library goes through two or three
// functions of it.
const mostMissed = 4

// biggest function of a library that calls into the kernel, bytes.
const biggest = 8192

// missedCallers finds the callers that a walk by frame pointers misses: a function
// without a frame of its own leaves its caller's frame pointer where it is, so that the
// walk goes on from there to the caller's caller. All C libraries but a few are such,
// and the one missed is the program's own function that called read or locked. Its
// address lies between the stack pointer and the frame pointer, as every return address
// does: behind a call instruction, and the call must lead to the function that was
// found last. What is left of older calls does not pass that.
//
// For amd64. On arm64 the C libraries keep frame records.
func missedCallers(t kernelTop, p process) []uint64 {
	var out []uint64
	last := t.Ip
	for i, w := range t.Words {
		at := t.Sp + 8*uint64(i)
		if t.Bp >= t.Sp && at >= t.Bp || len(out) == mostMissed {
			break // the caller's own frame: the walk goes on from there
		}
		if w < 4096 || w>>47 != 0 || !p.called(w, last) {
			continue
		}
		out = append(out, w)
		last = w - 1
	}
	return out
}

// called tells whether the code before the address calls the function that inside
// lies in.
func (p process) called(address, inside uint64) bool {
	var b [7]byte
	if !p.code(address-7, b[:]) {
		return false
	}
	if b[2] == 0xe8 { // call rel32
		target := address + uint64(int64(int32(binary.LittleEndian.Uint32(b[3:]))))
		if target <= inside && inside-target < biggest {
			to, in := p.frame(target), p.frame(inside)
			return !to.Named || !in.Named || to.Function == in.Function
		}
		// Into another object a call goes through the table of its own object's (PLT).
		return p.across(address, inside) && p.jumps(target)
	}
	// call [rip+disp32], call [reg+disp8], call reg, with a prefix or without: where to
	// is not written. Within one object the call would have been direct.
	indirect := b[1] == 0xff && b[2] == 0x15 || b[4] == 0xff && b[5]&0xf8 == 0x50 || b[5] == 0xff && b[6]&0xf8 == 0xd0
	return indirect && p.across(address, inside)
}

// jumps tells an entry of the PLT: it begins with jmp [rip+disp32], before which may
// stand endbr64 and a bnd prefix (System V ABI for AMD64, 5.2; Intel CET).
func (p process) jumps(address uint64) bool {
	var b [8]byte
	if !p.code(address, b[:]) {
		return false
	}
	code := bytes.TrimPrefix(b[:], []byte{0xf3, 0x0f, 0x1e, 0xfa})
	return bytes.HasPrefix(bytes.TrimPrefix(code, []byte{0xf2}), []byte{0xff, 0x25})
}

func (p process) across(a, b uint64) bool { return !p.sameObject(a, b) }

func (p process) sameObject(a, b uint64) bool {
	x, y := p.frame(a), p.frame(b)
	return x.Object != "" && x.Object == y.Object
}
