package elffile

import (
	"encoding/binary"
	"io"
	"math"
)

// Magic numbers of the pclntab (src/internal/abi/symtab.go): of Go 1.18, and of
// 1.20 and later. Both have the same header as far as it is read here.
const (
	magicGo118 = 0xfffffff0
	magicGo120 = 0xfffffff1
)

// IsGo reports whether the file is a Go program: its functions keep frame pointers and
// have no call frame information that the file tells.
func (f *File) IsGo() bool {
	_, ok := f.section(pclntab...)
	return ok
}

var pclntab = []string{".gopclntab", ".data.rel.ro.gopclntab"}

// goFunctions reads the functions of a Go program out of its pclntab, which strip
// and -ldflags=-s leave in place (src/runtime/symtab.go, pcHeader):
//
//	magic uint32, 2 zeros, quantum uint8, pointer size uint8,
//	functions, files, start of text, offsets of: names, units, files, pc data, functions: a word each
//
// The table of functions is pairs of uint32: where the function begins, from the
// start of the text, and where its record lies, from the table's own start; a
// record begins with the same start and the offset of the name.
func (f *File) goFunctions() *Functions {
	at, ok := f.section(pclntab...)
	if !ok || at.Size > math.MaxUint32 || at.Off > math.MaxInt64-at.Size {
		return nil
	}
	h, err := f.bytes(at.Off, 72, 72)
	magic := uint32(0)
	if err == nil {
		magic = binary.LittleEndian.Uint32(h)
	}
	if magic != magicGo118 && magic != magicGo120 || h[4] != 0 || h[5] != 0 || h[7] != 8 {
		return nil
	}
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(h[8+8*i:]) }
	count, names, table := word(0), word(3), word(7)
	start, ok := f.goText(word(2))
	if !ok || count > MostFunctions || names > at.Size || table > at.Size {
		return nil
	}
	t := &Functions{base: f.first(), r: f.r, names: at.Off + names, size: at.Size - names}
	pairs, err := f.bytes(at.Off+table, 8*count, 8*MostFunctions)
	if err != nil {
		return nil
	}
	// Records lie one after the other: one window of the file serves many.
	window := &window{r: io.NewSectionReader(f.r, int64(at.Off+table), int64(at.Size-table))}
	for i := range count {
		entry, record := binary.LittleEndian.Uint32(pairs[8*i:]), binary.LittleEndian.Uint32(pairs[8*i+4:])
		b, ok := window.at(int64(record), 8)
		if !ok || binary.LittleEndian.Uint32(b) != entry {
			return nil // not the layout that it was taken for: no name is better than a wrong one
		}
		if name := binary.LittleEndian.Uint32(b[4:]); int32(name) > 0 {
			t.add(start+uint64(entry), 0, uint64(name))
		}
	}
	t.sort()
	return t
}

// goText is the address of runtime.text, where Go's own code begins: the header has
// it up to Go 1.25, unless a relocation fills it in. Without, it is the start of
// .text, if no C linker put its own code before (it makes .init).
func (f *File) goText(header uint64) (uint64, bool) {
	text, ok := f.section(".text")
	if !ok {
		return 0, false
	}
	if header >= text.Addr && header-text.Addr < text.Size {
		return header, true
	}
	_, linked := f.section(".init")
	return text.Addr, header == 0 && !linked
}

// window reads a file in parts of 64 kB.
type window struct {
	r    *io.SectionReader
	from int64
	b    []byte
}

func (w *window) at(off int64, n int) ([]byte, bool) {
	if off < w.from || off+int64(n) > w.from+int64(len(w.b)) {
		b := make([]byte, 64<<10)
		got, _ := w.r.ReadAt(b, off) // shorter at the end
		w.from, w.b = off, b[:got]
	}
	if off-w.from+int64(n) > int64(len(w.b)) {
		return nil, false
	}
	return w.b[off-w.from:][:n], true
}
