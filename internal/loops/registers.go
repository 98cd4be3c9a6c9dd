package loops

import "golang.org/x/arch/x86/x86asm"

// registers is how many general registers there are.
const registers = 16

// family is the number of the general register that r is a part of (0 rax, 1 rcx, as
// they are encoded); -1: it is none.
func family(r x86asm.Reg) int {
	switch {
	case r >= x86asm.AL && r <= x86asm.BL:
		return int(r - x86asm.AL)
	case r >= x86asm.AH && r <= x86asm.BH:
		return int(r - x86asm.AH)
	case r >= x86asm.SPB && r <= x86asm.R15B:
		return int(r-x86asm.SPB) + 4
	case r >= x86asm.AX && r <= x86asm.R15W:
		return int(r - x86asm.AX)
	case r >= x86asm.EAX && r <= x86asm.R15L:
		return int(r - x86asm.EAX)
	case r >= x86asm.RAX && r <= x86asm.R15:
		return int(r - x86asm.RAX)
	}
	return -1
}

func registerOf(a x86asm.Arg) int {
	if r, ok := a.(x86asm.Reg); ok {
		return family(r)
	}
	return -1
}

// slot is a number for a place on the thread's stack, which code without optimisation
// uses as a register; -1: none, or it can't be told which.
func (r *round) slot(m x86asm.Mem) int {
	if !onStack(m) || m.Index != 0 {
		return -1
	}
	n, ok := r.slots[m]
	if !ok {
		n = registers + len(r.slots)
		r.slots[m] = n
	}
	return n
}

// sets are the operations that write their first argument without reading it.
func sets(in x86asm.Inst) bool {
	switch in.Op {
	case x86asm.MOV, x86asm.MOVZX, x86asm.MOVSX, x86asm.MOVSXD, x86asm.LEA,
		x86asm.SETA, x86asm.SETAE, x86asm.SETB, x86asm.SETBE, x86asm.SETE, x86asm.SETNE:
		return true
	case x86asm.XOR, x86asm.SUB: // of a register with itself: zero
		a, b := registerOf(in.Args[0]), registerOf(in.Args[1])
		return a >= 0 && a == b
	}
	return false
}

// uses are the registers and stack slots that an instruction reads and those that it
// writes. What an exchange gives away is what it got before: while it waits that is the
// same, and so it is not told as read.
func (r *round) uses(in x86asm.Inst) (reads, writes []int) {
	if in.Op == x86asm.NOP {
		return nil, nil
	}
	add := func(to *[]int, n int) {
		if n >= 0 {
			*to = append(*to, n)
		}
	}
	self := in.Op == x86asm.XOR || in.Op == x86asm.SUB
	for i, a := range in.Args {
		at, read := -1, !sets(in) || i > 0 && !self
		switch a := a.(type) {
		case x86asm.Mem:
			add(&reads, family(a.Base))
			add(&reads, family(a.Index))
			at = r.slot(a)
			read = read && in.Op != x86asm.LEA
		case x86asm.Reg:
			at = family(a)
			read = read && in.Op != x86asm.XCHG
		}
		if read {
			add(&reads, at)
		}
		if i == 0 && !onlyReads(in) && in.Op != x86asm.CMPXCHG || in.Op == x86asm.XCHG || in.Op == x86asm.XADD {
			add(&writes, at)
		}
	}
	if in.Op == x86asm.CMPXCHG {
		add(&reads, family(x86asm.RAX))
		add(&writes, family(x86asm.RAX))
	}
	return reads, writes
}
