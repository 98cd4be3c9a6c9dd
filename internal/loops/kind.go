package loops

import "golang.org/x/arch/x86/x86asm"

// round is what is known of the instructions of a loop up to one of them.
type round struct {
	slots   map[x86asm.Mem]int
	written map[int]bool // registers and stack slots that any of them writes
	fresh   map[int]bool // those that were written in this round so far
	carries bool         // a value goes from one round to the next
	pauses  bool
	reads   bool // memory that others may write
	tries   int  // atomic operations
	tested  int  // of them, those whose outcome is tested
	open    bool // the outcome of the last is not tested yet
	flags   bool // and lies in the flags
	outcome int  // and in this register; -1: in none
}

// kindOf reports what the instructions of a round do.
func kindOf(steps []step) Kind {
	r := round{slots: map[x86asm.Mem]int{}, written: map[int]bool{}, fresh: map[int]bool{}, outcome: -1}
	for _, s := range steps {
		_, writes := r.uses(s.in)
		for _, at := range writes {
			r.written[at] = true
		}
	}
	waits, works := true, false
	for _, s := range steps {
		works = works || leaves(s.in) || stores(s.in)
		if !r.step(s.in) {
			waits = false
		}
	}
	switch {
	case r.pauses && !works:
		return Pauses
	case waits && !works && !r.carries && r.tested == r.tries && (r.reads || r.tries > 0):
		return Waits
	case r.tested > 0:
		return Tries
	}
	return Works
}

// leaves tells an instruction that leaves the loop for other code and comes back.
func leaves(in x86asm.Inst) bool {
	switch in.Op {
	case x86asm.CALL, x86asm.LCALL, x86asm.SYSCALL, x86asm.SYSENTER, x86asm.INT, x86asm.PUSH, x86asm.POP:
		return true
	}
	return false
}

// stores tells a plain write to memory, the thread's own stack excepted.
func stores(in x86asm.Inst) bool {
	m, ok := in.Args[0].(x86asm.Mem)
	return ok && !atomic(in) && !onlyReads(in) && !onStack(m)
}

// onlyReads tells an instruction that does not write its first argument.
func onlyReads(in x86asm.Inst) bool {
	switch in.Op {
	case x86asm.CMP, x86asm.TEST, x86asm.BT, x86asm.NOP, x86asm.JMP, x86asm.PAUSE, x86asm.PREFETCHNTA, x86asm.PREFETCHT0, x86asm.PREFETCHT1, x86asm.PREFETCHT2, x86asm.PREFETCHW:
		return true
	}
	return false
}

// onStack tells the thread's own stack: no other thread waits or writes there.
func onStack(m x86asm.Mem) bool {
	base := family(m.Base)
	return base == family(x86asm.RSP) || base == family(x86asm.RBP)
}

// atomic tells a read-modify-write operation on memory that no other thread can come
// between; an exchange with memory is one without the prefix (Intel SDM 2, XCHG).
func atomic(in x86asm.Inst) bool {
	if in.Op == x86asm.XCHG {
		_, a := in.Args[0].(x86asm.Mem)
		_, b := in.Args[1].(x86asm.Mem)
		return a || b
	}
	for _, p := range in.Prefix {
		if p&^(x86asm.PrefixImplicit|x86asm.PrefixIgnored) == x86asm.PrefixLOCK {
			return true
		}
	}
	return false
}

// step takes one more instruction; false: it is more than waiting, or it is not known.
func (r *round) step(in x86asm.Inst) bool {
	reads, writes := r.uses(in)
	for _, at := range reads {
		if r.written[at] && !r.fresh[at] {
			r.carries = true
		}
	}
	for _, at := range writes {
		r.fresh[at] = true
	}
	for _, a := range in.Args {
		if m, ok := a.(x86asm.Mem); ok && in.Op != x86asm.LEA && in.Op != x86asm.NOP && !onStack(m) {
			r.reads = true
		}
	}
	switch {
	case atomic(in):
		return r.try(in)
	case in.Op == x86asm.PAUSE:
		r.pauses = true
	case conditional[in.Op]:
		r.test(r.flags)
	case in.Op == x86asm.CMP, in.Op == x86asm.TEST:
		r.test(r.outcome >= 0 && (registerOf(in.Args[0]) == r.outcome || registerOf(in.Args[1]) == r.outcome))
		r.flags = false
	case in.Op == x86asm.MOV, in.Op == x86asm.MOVZX, in.Op == x86asm.MOVSX, in.Op == x86asm.MOVSXD:
		if to := registerOf(in.Args[0]); to >= 0 && r.outcome >= 0 && registerOf(in.Args[1]) == r.outcome {
			r.outcome = to
		}
	case in.Op == x86asm.JMP, in.Op == x86asm.NOP, in.Op == x86asm.LEA:
	case in.Op == x86asm.XOR, in.Op == x86asm.SUB, in.Op == x86asm.AND, in.Op == x86asm.ADD, in.Op == x86asm.OR, in.Op == x86asm.SHR, in.Op == x86asm.SAR:
		r.flags = false // of what was read in this round, or it carries
	default:
		r.flags = false
		return false
	}
	return true
}

// try takes an atomic operation. One that adds does something each time; one that sets
// the same again and again does not.
func (r *round) try(in x86asm.Inst) bool {
	r.tries++
	r.open, r.flags, r.outcome = true, false, -1
	switch in.Op {
	case x86asm.XCHG:
		r.outcome = max(registerOf(in.Args[0]), registerOf(in.Args[1]))
	case x86asm.CMPXCHG:
		r.flags, r.outcome = true, family(x86asm.RAX)
	case x86asm.CMPXCHG8B, x86asm.CMPXCHG16B, x86asm.BTS, x86asm.BTR:
		r.flags = true
	case x86asm.XADD:
		r.outcome = registerOf(in.Args[1])
		return false
	default:
		r.flags = true
		return false
	}
	return true
}

func (r *round) test(outcome bool) {
	if r.open && outcome {
		r.tested++
		r.open = false
	}
}

// conditional are the instructions that do one thing or another by the flags.
var conditional = map[x86asm.Op]bool{
	x86asm.JA: true, x86asm.JAE: true, x86asm.JB: true, x86asm.JBE: true, x86asm.JE: true, x86asm.JG: true, x86asm.JGE: true, x86asm.JL: true,
	x86asm.JLE: true, x86asm.JNE: true, x86asm.JNO: true, x86asm.JNP: true, x86asm.JNS: true, x86asm.JO: true, x86asm.JP: true, x86asm.JS: true,
	x86asm.SETA: true, x86asm.SETAE: true, x86asm.SETB: true, x86asm.SETBE: true, x86asm.SETE: true, x86asm.SETNE: true,
}
