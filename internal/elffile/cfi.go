package elffile

import (
	"debug/elf"
	"encoding/binary"
	"errors"
)

// Registers of x86-64 in call frame information (System V ABI, AMD64 supplement,
// figure 3.36): 0 to 15 are the general ones, 16 is the return address.
const (
	RegBX = 3
	RegBP = 6
	RegSP = 7
	RegRA = 16
	// Registers is how many there are.
	Registers = 17
)

// RuleKind says how a register of the caller is found (DWARF 5, section 6.4.1).
type RuleKind uint8

// Values of RuleKind.
const (
	RuleSame            RuleKind = iota // it still has the caller's value, if it is one that calls keep
	RuleUndefined                       // it is lost; of the return address: the thread begins here
	RuleOffset                          // saved at the CFA and Offset
	RuleValue                           // it is the CFA and Offset
	RuleRegister                        // it is in the register Offset
	RuleExpression                      // saved where Row.Expressions[Offset] says
	RuleValueExpression                 // it is what Row.Expressions[Offset] says
)

// Rule is how one register of the caller is found.
type Rule struct {
	Kind   RuleKind
	Offset int32
}

// Row is how the caller's frame is found at one address of x86-64 code. The canonical
// frame address (CFA) is the stack pointer as it was before the call.
type Row struct {
	CFA    uint8 // register
	Offset int64 // added to it
	// Expression gives the CFA instead, where it is not nil (DWARF 5, section 2.5).
	Expression  []byte
	Rules       [Registers]Rule
	Expressions [][]byte
	// Signal: the kernel made this frame to run a signal's handler. What it
	// interrupted need not have been a call.
	Signal bool
}

// Outermost reports that there is no return address: the thread begins here.
func (r *Row) Outermost() bool { return r.Rules[RegRA].Kind == RuleUndefined }

var errCFI = errors.New("call frame information that is not read")

// mostCFI bytes of one entry are read.
const mostCFI = 64 << 10

// HasFrames reports whether the file has call frame information for its code, and a table
// to find it. Compilers write an entry for each function; a few entries in all are those
// of the files that start a program, beside a library without (musl's).
func (f *File) HasFrames() bool {
	const header, entry, codeEach = 12, 8, 4096
	code := uint64(0)
	for _, p := range f.loads {
		if elf.ProgFlag(p.Flags)&elf.PF_X != 0 {
			code = max(code, p.Filesz)
		}
	}
	return f.unwind.Filesz > header && (f.unwind.Filesz-header)/entry >= code/codeEach
}

// FrameRow reads the call frame information (.eh_frame) for an address; false where
// the file has none for it, or none that is read.
func (f *File) FrameRow(address uint64) (Row, bool) {
	start, at, ok := f.entry(address)
	if !ok {
		return Row{}, false
	}
	fde, pos, err := f.record(at)
	if err != nil || pos == 0 || len(fde) < 4 {
		return Row{}, false
	}
	cieAt := pos - uint64(binary.LittleEndian.Uint32(fde)) // from the field itself, backwards
	raw, _, err := f.record(cieAt)
	if err != nil || cieAt >= at {
		return Row{}, false
	}
	cie, err := parseCIE(raw)
	if err != nil {
		return Row{}, false
	}
	in := &reader{b: fde[4:]}
	size := pointerSize(cie.encoding)
	in.skip(size)
	length := in.uint(size)
	if cie.augmented {
		in.skip(int(min(in.uleb(), mostCFI)))
	}
	if in.bad || size == 0 || address-start >= length {
		return Row{}, false
	}
	row, err := cie.run(in.b, start, address)
	return row, err == nil
}

// record is an entry of .eh_frame without its length, and the address behind it.
func (f *File) record(address uint64) ([]byte, uint64, error) {
	off, ok := f.offset(address)
	if !ok {
		return nil, 0, errCFI
	}
	head, err := f.bytes(off, 4, 4)
	if err != nil {
		return nil, 0, err
	}
	size := uint64(binary.LittleEndian.Uint32(head))
	if size == 0 || size == 0xffffffff { // the end; 64-bit entries, which nobody writes here
		return nil, 0, errCFI
	}
	b, err := f.bytes(off+4, size, mostCFI)
	return b, address + 4, err
}

// offset is where an address lies in the file.
func (f *File) offset(address uint64) (uint64, bool) {
	for _, p := range f.loads {
		if address >= p.Vaddr && address-p.Vaddr < p.Filesz {
			return address - p.Vaddr + p.Off, true
		}
	}
	return 0, false
}

// cie is what the entries of one kind share.
type cie struct {
	code      uint64
	data      int64
	encoding  byte
	augmented bool
	signal    bool // of a signal's frame
	initial   []byte
}

// parseCIE reads a common information entry, without its length (LSB Core 10.6.1.1.1).
func parseCIE(b []byte) (cie, error) {
	c := cie{}
	in := &reader{b: b}
	id, version := in.uint(4), in.uint(1)
	text := in.text()
	if id != 0 || version != 1 && version != 3 {
		return c, errCFI
	}
	c.code, c.data = in.uleb(), in.sleb()
	ra := uint64(0)
	if version == 1 {
		ra = in.uint(1)
	} else {
		ra = in.uleb()
	}
	if len(text) > 0 && text[0] == 'z' {
		c.augmented = true
		size := in.uleb()
		if in.bad || size > uint64(len(in.b)) {
			return c, errCFI
		}
		data := &reader{b: in.b[:size]}
		in.skip(int(size))
		for _, one := range text[1:] {
			switch one {
			case 'R':
				c.encoding = byte(data.uint(1))
			case 'P':
				n := pointerSize(byte(data.uint(1)))
				data.bad = data.bad || n == 0
				data.skip(n)
			case 'L':
				data.skip(1)
			case 'S':
				c.signal = true
			default:
				return c, errCFI
			}
		}
		in.bad = in.bad || data.bad
	} else if text != "" {
		return c, errCFI
	}
	if in.bad || ra != RegRA {
		return c, errCFI
	}
	c.initial = in.b
	return c, nil
}

// pointerSize is that of a pointer by its encoding (LSB Core 10.5.1); 0: not read.
func pointerSize(encoding byte) int {
	switch encoding & 0x0f {
	case 0x00, 0x04, 0x0c:
		return 8
	case 0x03, 0x0b:
		return 4
	case 0x02, 0x0a:
		return 2
	}
	return 0
}
