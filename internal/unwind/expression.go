package unwind

import "encoding/binary"

// Operations of DWARF expressions (DWARF 5, table 7.9) that call frame information is
// written with; those in ranges first.
const (
	opLit0      = 0x30
	opReg0      = 0x50 // the first behind the literals
	opBreg0     = 0x70
	opBregLast  = 0x8f
	opDeref     = 0x06
	opConst1u   = 0x08
	opConst1s   = 0x09
	opConst2u   = 0x0a
	opConst2s   = 0x0b
	opConst4u   = 0x0c
	opConst4s   = 0x0d
	opConst8u   = 0x0e
	opConst8s   = 0x0f
	opConstu    = 0x10
	opConsts    = 0x11
	opDup       = 0x12
	opDrop      = 0x13
	opOver      = 0x14
	opSwap      = 0x16
	opAnd       = 0x1a
	opMinus     = 0x1c
	opNeg       = 0x1f
	opNot       = 0x20
	opOr        = 0x21
	opPlus      = 0x22
	opPlusConst = 0x23
	opShl       = 0x24
	opShr       = 0x25
	opShra      = 0x26
	opXor       = 0x27
	opEq        = 0x29
	opGe        = 0x2a
	opGt        = 0x2b
	opLe        = 0x2c
	opLt        = 0x2d
	opNe        = 0x2e
	opNop       = 0x96
)

const deepest = 32 // values on the stack of an expression

// expression runs a DWARF expression. Branches are not read: so it ends.
type expression struct {
	in    []byte
	stack []uint64
	at    *Registers
	copy  Stack
	err   error
}

// evaluate gives what an expression leaves; first is what it begins with.
func evaluate(code []byte, at *Registers, copied Stack, first ...uint64) (uint64, error) {
	e := expression{in: code, stack: append(make([]uint64, 0, 8), first...), at: at, copy: copied}
	for len(e.in) > 0 && e.err == nil {
		op := e.in[0]
		e.in = e.in[1:]
		e.do(op)
	}
	v := e.pop()
	return v, e.err
}

func (e *expression) push(v uint64) {
	if len(e.stack) == deepest {
		e.err = errUnknown
		return
	}
	e.stack = append(e.stack, v)
}

func (e *expression) pop() uint64 {
	n := len(e.stack)
	if n == 0 {
		if e.err == nil {
			e.err = errUnknown
		}
		return 0
	}
	v := e.stack[n-1]
	e.stack = e.stack[:n-1]
	return v
}

func (e *expression) do(op byte) {
	switch {
	case op >= opLit0 && op < opReg0:
		e.push(uint64(op - opLit0))
	case op >= opBreg0 && op <= opBregLast:
		v, ok := e.at.Get(int(op - opBreg0))
		if !ok {
			e.err = errUnknown
		}
		e.push(v + uint64(e.sleb()))
	case op >= opConst1u && op <= opConst8s:
		e.constant(op)
	case op >= opAnd && op <= opNe && op != opNeg && op != opNot && op != opPlusConst:
		b, a := e.pop(), e.pop()
		e.push(e.binary(op, a, b))
	default:
		e.other(op)
	}
}

func (e *expression) other(op byte) {
	switch op {
	case opDeref:
		v, ok := e.copy.Word(e.pop())
		if !ok && e.err == nil {
			e.err = errBeyond
		}
		e.push(v)
	case opConstu:
		e.push(uint64(e.leb(false)))
	case opConsts:
		e.push(uint64(e.sleb()))
	case opPlusConst:
		e.push(e.pop() + uint64(e.leb(false)))
	case opDup:
		v := e.pop()
		e.push(v)
		e.push(v)
	case opDrop:
		e.pop()
	case opOver:
		b, a := e.pop(), e.pop()
		e.push(a)
		e.push(b)
		e.push(a)
	case opSwap:
		b, a := e.pop(), e.pop()
		e.push(b)
		e.push(a)
	case opNeg:
		e.push(-e.pop())
	case opNot:
		e.push(^e.pop())
	case opNop:
	default:
		e.err = errUnknown
	}
}

func (e *expression) binary(op byte, a, b uint64) uint64 {
	is := func(yes bool) uint64 {
		if yes {
			return 1
		}
		return 0
	}
	switch op {
	case opAnd:
		return a & b
	case opMinus:
		return a - b
	case opOr:
		return a | b
	case opPlus:
		return a + b
	case opShl:
		return a << b
	case opShr:
		return a >> b
	case opShra:
		return uint64(int64(a) >> b)
	case opXor:
		return a ^ b
	case opEq:
		return is(a == b)
	case opGe:
		return is(int64(a) >= int64(b))
	case opGt:
		return is(int64(a) > int64(b))
	case opLe:
		return is(int64(a) <= int64(b))
	case opLt:
		return is(int64(a) < int64(b))
	case opNe:
		return is(a != b)
	}
	e.err = errUnknown // a division and the like: nobody writes them here
	return 0
}

// constant pushes a number of 1, 2, 4 or 8 bytes, without a sign and with one in turn.
func (e *expression) constant(op byte) {
	size := 1 << ((op - opConst1u) / 2)
	if len(e.in) < size {
		e.err = errUnknown
		return
	}
	var b [8]byte
	copy(b[:], e.in[:size])
	e.in = e.in[size:]
	v := binary.LittleEndian.Uint64(b[:])
	if op&1 == 1 && size < 8 {
		unused := 64 - 8*size
		v = uint64(int64(v<<unused) >> unused)
	}
	e.push(v)
}

func (e *expression) sleb() int64 { return e.leb(true) }

// leb reads a number in LEB128 (DWARF 5, section 7.6), with a sign or without.
func (e *expression) leb(sign bool) int64 {
	v, shift := int64(0), 0
	for i, b := range e.in {
		if i == 10 {
			break
		}
		v |= int64(b&0x7f) << shift
		shift += 7
		if b&0x80 == 0 {
			e.in = e.in[i+1:]
			if sign && shift < 64 && b&0x40 != 0 {
				v |= -1 << shift
			}
			return v
		}
	}
	e.err, e.in = errUnknown, nil
	return 0
}
