package elffile

import (
	"bytes"
	"encoding/binary"
)

// Instructions of call frame information (DWARF 5, table 7.29), those with their
// operand in the low six bits first.
const (
	cfaAdvance         = 0x40
	cfaOffset          = 0x80
	cfaRestore         = 0xc0
	cfaSetLoc          = 0x01
	cfaAdvance1        = 0x02
	cfaAdvance2        = 0x03
	cfaAdvance4        = 0x04
	cfaOffsetExtended  = 0x05
	cfaRestoreExtended = 0x06
	cfaUndefined       = 0x07
	cfaSameValue       = 0x08
	cfaRegister        = 0x09
	cfaRemember        = 0x0a
	cfaRestoreState    = 0x0b
	cfaDef             = 0x0c
	cfaDefRegister     = 0x0d
	cfaDefOffset       = 0x0e
	cfaDefExpression   = 0x0f
	cfaExpression      = 0x10
	cfaOffsetSigned    = 0x11
	cfaDefSigned       = 0x12
	cfaDefOffsetSigned = 0x13
	cfaValOffset       = 0x14
	cfaValOffsetSigned = 0x15
	cfaValExpression   = 0x16
	cfaGNUArgsSize     = 0x2e
)

// mostRemembered states are kept; compilers nest one or two.
const mostRemembered = 16

// run executes the instructions up to an address of the function that begins at
// start.
func (c cie) run(instructions []byte, start, address uint64) (Row, error) {
	m := machine{c: c, loc: start, to: address}
	m.row.Rules[RegRA].Kind = noRule
	if err := m.do(c.initial); err != nil {
		return Row{}, err
	}
	m.initial, m.loc, m.past = m.row, start, false
	if err := m.do(instructions); err != nil {
		return Row{}, err
	}
	if ra := m.row.Rules[RegRA].Kind; ra == noRule || ra == RuleSame || m.row.Expression == nil && m.row.CFA >= Registers {
		return Row{}, errCFI
	}
	m.row.Signal = c.signal
	return m.row, nil
}

// noRule: nothing was said of the return address yet.
const noRule RuleKind = 0xff

type machine struct {
	c          cie
	row        Row
	initial    Row
	loc, to    uint64
	past       bool
	remembered []Row
}

func (m *machine) do(b []byte) error {
	in := &reader{b: b}
	for len(in.b) > 0 && !in.bad && !m.past {
		op := byte(in.uint(1))
		switch op & 0xc0 {
		case cfaAdvance:
			m.advance(uint64(op & 0x3f))
		case cfaOffset:
			m.set(uint64(op&0x3f), RuleOffset, int64(in.uleb())*m.c.data)
		case cfaRestore:
			m.restore(uint64(op & 0x3f))
		default:
			if err := m.extended(op, in); err != nil {
				return err
			}
		}
	}
	if in.bad {
		return errCFI
	}
	return nil
}

func (m *machine) advance(by uint64) {
	m.loc += by * m.c.code
	m.past = m.loc > m.to
}

func (m *machine) extended(op byte, in *reader) error {
	switch op {
	case 0: // nop
	case cfaAdvance1:
		m.advance(in.uint(1))
	case cfaAdvance2:
		m.advance(in.uint(2))
	case cfaAdvance4:
		m.advance(in.uint(4))
	case cfaOffsetExtended:
		m.set(in.uleb(), RuleOffset, int64(in.uleb())*m.c.data)
	case cfaOffsetSigned:
		m.set(in.uleb(), RuleOffset, in.sleb()*m.c.data)
	case cfaRestoreExtended:
		m.restore(in.uleb())
	case cfaUndefined:
		m.set(in.uleb(), RuleUndefined, 0)
	case cfaSameValue:
		m.set(in.uleb(), RuleSame, 0)
	case cfaRegister:
		m.set(in.uleb(), RuleRegister, int64(in.uleb()))
	case cfaRemember:
		if len(m.remembered) == mostRemembered {
			return errCFI
		}
		m.remembered = append(m.remembered, m.row)
	case cfaRestoreState:
		n := len(m.remembered)
		if n == 0 {
			return errCFI
		}
		m.row, m.remembered = m.remembered[n-1], m.remembered[:n-1]
	case cfaDef:
		m.frame(in.uleb(), int64(in.uleb()))
	case cfaDefSigned:
		m.frame(in.uleb(), in.sleb()*m.c.data)
	case cfaDefRegister:
		m.frame(in.uleb(), m.row.Offset)
	case cfaDefOffset:
		m.row.Offset = int64(in.uleb())
	case cfaDefOffsetSigned:
		m.row.Offset = in.sleb() * m.c.data
	case cfaDefExpression:
		m.row.Expression = in.block()
	case cfaExpression:
		return m.expression(in.uleb(), RuleExpression, in.block())
	case cfaValOffset:
		m.set(in.uleb(), RuleValue, int64(in.uleb())*m.c.data)
	case cfaValOffsetSigned:
		m.set(in.uleb(), RuleValue, in.sleb()*m.c.data)
	case cfaValExpression:
		return m.expression(in.uleb(), RuleValueExpression, in.block())
	case cfaGNUArgsSize:
		in.uleb()
	default: // cfaSetLoc among them
		return errCFI
	}
	return nil
}

// frame sets the CFA to a register and an offset.
func (m *machine) frame(register uint64, offset int64) {
	m.row.CFA, m.row.Offset, m.row.Expression = uint8(min(register, 0xff)), offset, nil
}

// set says how a register is found; of vector registers and the like nothing is kept.
func (m *machine) set(register uint64, kind RuleKind, offset int64) {
	if register >= Registers {
		return
	}
	if offset != int64(int32(offset)) || kind == RuleRegister && uint64(offset) >= Registers {
		kind, offset = RuleUndefined, 0
		if register == RegRA {
			kind = noRule
		}
	}
	m.row.Rules[register] = Rule{kind, int32(offset)}
}

// mostExpressions of one row are kept: a signal's frame has one for each register.
const mostExpressions = 2 * Registers

func (m *machine) expression(register uint64, kind RuleKind, e []byte) error {
	n := len(m.row.Expressions)
	if n == mostExpressions {
		return errCFI
	}
	// Rows that were remembered share the first n, which nobody writes to again.
	m.row.Expressions = append(m.row.Expressions[:n:n], e)
	m.set(register, kind, int64(n))
	return nil
}

func (m *machine) restore(register uint64) {
	if register < Registers {
		m.row.Rules[register] = m.initial.Rules[register]
	}
}

// reader reads numbers off a slice; bad once it was too short.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) skip(n int) {
	if n < 0 || n > len(r.b) {
		r.bad, r.b = true, nil
		return
	}
	r.b = r.b[n:]
}

func (r *reader) uint(n int) uint64 {
	if n > len(r.b) || n > 8 {
		r.bad, r.b = true, nil
		return 0
	}
	var v [8]byte
	copy(v[:], r.b[:n])
	r.b = r.b[n:]
	return binary.LittleEndian.Uint64(v[:])
}

func (r *reader) uleb() uint64 {
	v, shift := uint64(0), 0
	for i, b := range r.b {
		if shift < 64 {
			v |= uint64(b&0x7f) << shift
		}
		shift += 7
		if b&0x80 == 0 {
			r.b = r.b[i+1:]
			return v
		}
		if i == 15 {
			break
		}
	}
	r.bad, r.b = true, nil
	return 0
}

func (r *reader) sleb() int64 {
	v, shift := int64(0), 0
	for i, b := range r.b {
		if shift < 64 {
			v |= int64(b&0x7f) << shift
		}
		shift += 7
		if b&0x80 == 0 {
			r.b = r.b[i+1:]
			if shift < 64 && b&0x40 != 0 {
				v |= -1 << shift
			}
			return v
		}
		if i == 15 {
			break
		}
	}
	r.bad, r.b = true, nil
	return 0
}

func (r *reader) text() string {
	s, rest, ok := bytes.Cut(r.b, []byte{0})
	if !ok || len(s) > 16 {
		r.bad, r.b = true, nil
		return ""
	}
	r.b = rest
	return string(s)
}

func (r *reader) block() []byte {
	n := r.uleb()
	if n > uint64(len(r.b)) {
		r.bad, r.b = true, nil
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}
