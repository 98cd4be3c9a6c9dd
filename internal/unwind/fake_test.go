package unwind

import (
	"encoding/binary"

	"snag/internal/elffile"
)

// fake is a process whose code is written here: a program at 0x1000 that calls through
// its PLT at 0x1f00, and a library at 0x7000. Code stands before the address that it
// returns to.
type fake struct {
	before map[uint64][]byte
	rows   map[uint64]*elffile.Row // by the start of the function, 0x100 long
	kind   Kind                    // of code without a row
}

func (m fake) Row(address uint64) (*elffile.Row, Kind) {
	if row := m.rows[address&^0xff]; row != nil {
		return row, Told
	}
	if m.object(address) == "" {
		return nil, Nowhere
	}
	return nil, m.kind
}

func (fake) object(address uint64) string {
	switch {
	case address >= 0x1000 && address < 0x2000:
		return "/srv/api"
	case address >= 0x7000 && address < 0x8000:
		return "/lib/libc.so.6"
	}
	return ""
}

func (m fake) Read(address uint64, b []byte) bool {
	clear(b)
	if address == 0x1f10 {
		copy(b, []byte{0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25})
		return true
	}
	if at, ok := m.before[address]; ok { // code that stands at the address itself
		copy(b, at)
		return true
	}
	at, ok := m.before[address+7]
	if ok && len(b) == 7 {
		copy(b[7-len(at):], at)
	}
	return ok
}

func (m fake) Function(address uint64) Function {
	f := Function{Object: m.object(address)}
	switch {
	case address >= 0x7800 && address < 0x8000:
		f.Name = "mutex_lock"
	case address >= 0x7000 && address < 0x7800:
		f.Name = "lock_wait"
	case address >= 0x1f00 && address < 0x2000:
	case address >= 0x1800 && address < 0x1f00:
		f.Name = "other"
	case address >= 0x1000 && address < 0x1800:
		f.Name = "handle"
	}
	return f
}

func call(from, to uint64) []byte {
	return binary.LittleEndian.AppendUint32([]byte{0xe8}, uint32(int32(int64(to)-int64(from))))
}

func words(all ...uint64) (b []byte) {
	for _, v := range all {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

func row(cfa uint8, offset int64, rules map[int]int32) *elffile.Row {
	r := &elffile.Row{CFA: cfa, Offset: offset}
	r.Rules[elffile.RegRA] = elffile.Rule{Kind: elffile.RuleOffset, Offset: -8}
	for register, at := range rules {
		r.Rules[register] = elffile.Rule{Kind: elffile.RuleOffset, Offset: at}
	}
	return r
}
