package elffile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"math"
	"slices"
	"sort"

	"snag/internal/sorting"
)

const (
	// MostFunctions are kept of one file: 12 MB.
	MostFunctions = 1 << 20
	// longestName, bytes: C++ templates go beyond it, and are cut.
	longestName = 2048
)

// Functions is a table of functions, sorted by address, 12 bytes each: names stay
// in the file.
type Functions struct {
	base uint64
	all  []function
	r    io.ReaderAt
	// The table of names in the file.
	names, size uint64
	// Left is how many found no room.
	Left int
}

type function struct {
	start uint32 // from base
	size  uint32 // 0: up to the next one
	name  uint32
}

// Functions reads the symbols of a file: .symtab where it has one, else what Go
// keeps of its functions (a stripped Go program still has it), else .dynsym. Nil
// where there is none of them.
func (f *File) Functions() *Functions {
	if s, ok := f.section(".symtab"); ok {
		if t := f.symbols(s); t.Len() > 0 {
			return t
		}
	}
	if t := f.goFunctions(); t.Len() > 0 {
		return t
	}
	if s, ok := f.section(".dynsym"); ok {
		if t := f.symbols(s); t.Len() > 0 {
			return t
		}
	}
	return nil
}

// HasSymbols reports whether the file has its full table of symbols.
func (f *File) HasSymbols() bool {
	_, ok := f.section(".symtab")
	return ok
}

// Len is the number of functions; 0 for nil.
func (t *Functions) Len() int {
	if t == nil {
		return 0
	}
	return len(t.all)
}

// symbols reads one section of symbols, a part at a time.
func (f *File) symbols(s elf.Section64) *Functions {
	if uint64(s.Link) >= uint64(len(f.sections)) || s.Entsize != elf.Sym64Size || s.Off > math.MaxInt64-s.Size {
		return nil
	}
	strings := f.sections[s.Link].Section64
	if elf.SectionFlag(strings.Flags)&elf.SHF_COMPRESSED != 0 {
		return nil
	}
	t := &Functions{base: f.first(), r: f.r, names: strings.Off, size: strings.Size}
	in := io.NewSectionReader(f.r, int64(s.Off), int64(s.Size))
	part := make([]byte, 2048*elf.Sym64Size)
	for {
		n, err := io.ReadFull(in, part)
		for i := 0; i+elf.Sym64Size <= n; i += elf.Sym64Size {
			t.symbol(f, part[i:])
		}
		if err != nil || t.Left > MostFunctions { // the end, or a table that never ends
			break
		}
	}
	t.sort()
	return t
}

// symbol adds one Elf64_Sym if it is a function, or code of an assembler, which
// often has no type.
func (t *Functions) symbol(f *File, b []byte) {
	info, shndx := b[4], elf.SectionIndex(binary.LittleEndian.Uint16(b[6:]))
	value, size := binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])
	if shndx == elf.SHN_UNDEF || value < t.base {
		return
	}
	switch elf.ST_TYPE(info) {
	case elf.STT_FUNC, elf.STT_GNU_IFUNC:
	case elf.STT_NOTYPE:
		code := int(shndx) < len(f.sections) && elf.SectionFlag(f.sections[shndx].Flags)&elf.SHF_EXECINSTR != 0
		if elf.ST_BIND(info) == elf.STB_LOCAL || !code {
			return
		}
	default:
		return
	}
	t.add(value, size, uint64(binary.LittleEndian.Uint32(b)))
}

func (t *Functions) add(start, size, name uint64) {
	if start-t.base > math.MaxUint32 || name >= t.size || name > math.MaxUint32 {
		return
	}
	if len(t.all) >= MostFunctions {
		t.Left++
		return
	}
	t.all = append(t.all, function{uint32(start - t.base), uint32(min(size, math.MaxUint32)), uint32(name)})
}

// sort puts the functions in order; of several at one address the first with a
// size stands, or the first.
func (t *Functions) sort() {
	sorting.StableBy(t.all, func(a, b function) int {
		if a.start != b.start {
			if a.start < b.start {
				return -1
			}
			return 1
		}
		if (a.size == 0) == (b.size == 0) {
			return 0
		}
		if a.size != 0 {
			return -1
		}
		return 1
	})
	t.all = slices.Clip(slices.CompactFunc(t.all, func(a, b function) bool { return a.start == b.start }))
}

// nested: a function may lie within the bounds of another one that began so many
// symbols before it.
const nested = 8

// Find names the function that an address lies in, and gives where it begins.
// What lies between functions, as in a file of which only some are named, is in
// none of them.
func (t *Functions) Find(address uint64) (name string, start uint64, ok bool) {
	f, ok := t.find(address)
	if !ok {
		return "", 0, false
	}
	name = t.name(f.name)
	return name, t.base + uint64(f.start), name != ""
}

// Start is where the function begins that an address lies in. It does not read the file.
func (t *Functions) Start(address uint64) (start uint64, ok bool) {
	f, ok := t.find(address)
	if !ok {
		return 0, false
	}
	return t.base + uint64(f.start), true
}

func (t *Functions) find(address uint64) (f function, ok bool) {
	if t == nil || address < t.base || address-t.base > math.MaxUint32 {
		return function{}, false
	}
	at := uint32(address - t.base)
	after := sort.Search(len(t.all), func(i int) bool { return t.all[i].start > at })
	for i := after - 1; i >= 0 && i >= after-nested; i-- {
		f := t.all[i]
		inside := at-f.start < f.size
		if f.size == 0 && i == after-1 {
			inside = after < len(t.all) || at-f.start < 4096
		}
		if inside {
			return f, true
		}
	}
	return function{}, false
}

func (t *Functions) name(at uint32) string {
	b := make([]byte, min(uint64(longestName), t.size-uint64(at)))
	n, _ := t.r.ReadAt(b, int64(t.names+uint64(at))) // shorter at the end of the file
	s, _, _ := bytes.Cut(b[:n], []byte{0})
	return string(s)
}
