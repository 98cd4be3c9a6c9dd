// Package unwind finds who called whom on a thread's stack, x86-64, from its registers
// and a copy of the stack: by the programs' call frame information, by frame pointers
// where code keeps them, and at last by what looks like a return address, which is said
// to be a guess. It reads nothing itself.
package unwind

import (
	"encoding/binary"

	"snag/internal/elffile"
)

// Registers are those of a thread that are known, by their numbers in call frame
// information.
type Registers struct {
	value [elffile.Registers]uint64
	known uint32
}

// At are the three registers that any walk needs.
func At(ip, sp, bp uint64) Registers {
	var r Registers
	r.Set(elffile.RegRA, ip)
	r.Set(elffile.RegSP, sp)
	r.Set(elffile.RegBP, bp)
	return r
}

// Set gives a register its value.
func (r *Registers) Set(register int, v uint64) {
	r.value[register] = v
	r.known |= 1 << register
}

// Get is a register's value; false where it is not known.
func (r *Registers) Get(register int) (uint64, bool) {
	if register < 0 || register >= len(r.value) {
		return 0, false
	}
	return r.value[register], r.known&(1<<register) != 0
}

// IP is the instruction pointer, or the address that a call returns to.
func (r *Registers) IP() uint64 { return r.value[elffile.RegRA] }

// SP is the stack pointer.
func (r *Registers) SP() uint64 { return r.value[elffile.RegSP] }

// BP is the frame pointer, or what the code uses its register for.
func (r *Registers) BP() uint64 { return r.value[elffile.RegBP] }

// kept are the registers that a function must give back as they were (System V ABI for
// AMD64, 3.2.1).
const kept = 1<<elffile.RegBX | 1<<elffile.RegBP | 1<<12 | 1<<13 | 1<<14 | 1<<15

// Stack is a copy of a part of a thread's stack.
type Stack struct {
	Base  uint64 // the address of the first byte
	Bytes []byte
}

// Word reads 8 bytes at an address; false beyond the copy.
func (s Stack) Word(address uint64) (uint64, bool) {
	off := address - s.Base
	if address < s.Base || off > uint64(len(s.Bytes)) || uint64(len(s.Bytes))-off < 8 {
		return 0, false
	}
	return binary.LittleEndian.Uint64(s.Bytes[off:]), true
}
