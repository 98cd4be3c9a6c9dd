package unwind

import (
	"errors"

	"snag/internal/elffile"
)

var (
	errUnknown = errors.New("nothing shows the caller")
	errBeyond  = errors.New("the copy of the stack ends before the caller's frame")
)

// caller steps to the caller's frame by a row of call frame information.
func caller(at *Registers, row *elffile.Row, s Stack) (Registers, error) {
	cfa, err := frameAddress(at, row, s)
	if err != nil {
		return *at, err
	}
	// The stack grows down: but for a signal, whose handler may have one of its own,
	// the caller's frame lies above.
	if cfa <= at.SP() && !row.Signal {
		return *at, errUnknown
	}
	next := Registers{value: at.value, known: at.known & kept}
	next.Set(elffile.RegSP, cfa)
	for register, rule := range &row.Rules {
		if rule.Kind == elffile.RuleSame {
			continue
		}
		v, err := saved(at, row, rule, cfa, s)
		switch {
		case err == nil:
			next.Set(register, v)
		case register == elffile.RegRA:
			return *at, err
		default: // only needed if a frame further out is found by it
			next.known &^= 1 << register
		}
	}
	return next, nil
}

// frameAddress is the canonical frame address.
func frameAddress(at *Registers, row *elffile.Row, s Stack) (uint64, error) {
	if row.Expression != nil {
		return evaluate(row.Expression, at, s)
	}
	v, ok := at.Get(int(row.CFA))
	if !ok {
		return 0, errUnknown
	}
	return v + uint64(row.Offset), nil
}

// saved is what one register was in the caller.
func saved(at *Registers, row *elffile.Row, rule elffile.Rule, cfa uint64, s Stack) (uint64, error) {
	address := cfa + uint64(int64(rule.Offset))
	switch rule.Kind {
	case elffile.RuleOffset:
	case elffile.RuleValue:
		return address, nil
	case elffile.RuleRegister:
		if v, ok := at.Get(int(rule.Offset)); ok {
			return v, nil
		}
		return 0, errUnknown
	case elffile.RuleExpression, elffile.RuleValueExpression:
		if rule.Offset < 0 || int(rule.Offset) >= len(row.Expressions) {
			return 0, errUnknown
		}
		v, err := evaluate(row.Expressions[rule.Offset], at, s, cfa)
		if err != nil || rule.Kind == elffile.RuleValueExpression {
			return v, err
		}
		address = v
	default:
		return 0, errUnknown
	}
	v, ok := s.Word(address)
	if !ok {
		return 0, errBeyond
	}
	return v, nil
}

// byFramePointer steps to the caller's frame as code with frame pointers keeps it: the
// register points to the caller's, the return address lies above.
func byFramePointer(at *Registers, s Stack) (Registers, error) {
	bp, ok := at.Get(elffile.RegBP)
	if !ok || bp < at.SP() || bp%8 != 0 {
		return *at, errUnknown
	}
	outer, ok1 := s.Word(bp)
	ra, ok2 := s.Word(bp + 8)
	if !ok1 || !ok2 {
		return *at, errBeyond
	}
	return At(ra, bp+16, outer), nil
}

// trampoline steps out of the piece of code that Python 3.12 and later put between two
// frames of its interpreter, so that a function has an address (Objects/asm_trampoline.S):
// on x86-64 it takes 8 bytes of stack and calls the interpreter; later versions keep the
// frame pointer there, others leave it as it is.
func trampoline(at *Registers, s Stack) (Registers, error) {
	if bp, ok := at.Get(elffile.RegBP); ok && bp == at.SP() {
		return byFramePointer(at, s)
	}
	ra, ok := s.Word(at.SP() + 8)
	if !ok {
		return *at, errBeyond
	}
	next := Registers{value: at.value, known: at.known & kept}
	next.Set(elffile.RegSP, at.SP()+16)
	next.Set(elffile.RegRA, ra)
	return next, nil
}

// sigreturn is the code that a signal's handler returns to where there is no call frame
// information for it (musl's __restore_rt, Go's sigreturn): mov $15,%rax; syscall.
var sigreturn = [9]byte{0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05}

// interrupted are the registers that a signal interrupted: the stack pointer points to a
// ucontext_t, 40 bytes into which they stand in this order
// (arch/x86/include/uapi/asm/sigcontext.h, struct sigcontext_64).
func interrupted(at *Registers, s Stack) (Registers, error) {
	order := [...]int{8, 9, 10, 11, 12, 13, 14, 15, 5, 4, elffile.RegBP, elffile.RegBX, 1, 0, 2, elffile.RegSP, elffile.RegRA}
	var next Registers
	for i, register := range order {
		v, ok := s.Word(at.SP() + 40 + 8*uint64(i))
		if !ok {
			return *at, errBeyond
		}
		next.Set(register, v)
	}
	return next, nil
}

// keepsFrame tells a row of a function that has set up its frame pointer: the caller's
// lies where it points, the return address above.
func keepsFrame(row *elffile.Row) bool {
	return row.Expression == nil && row.CFA == elffile.RegBP && row.Offset == 16 &&
		row.Rules[elffile.RegRA] == elffile.Rule{Kind: elffile.RuleOffset, Offset: -8} &&
		row.Rules[elffile.RegBP] == elffile.Rule{Kind: elffile.RuleOffset, Offset: -16}
}
