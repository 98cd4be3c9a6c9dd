// Package elffile reads of an ELF file (elf(5)) what naming an address needs: its
// build id, where its segments lie, its functions. Any process of the host may
// map any file, so what is read is bounded, whatever the file says of itself.
// 64-bit files in little-endian order only, as snag's own targets are.
package elffile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
)

// Bounds of what is read of one file.
const (
	mostSections = 1 << 12
	mostSegments = 1 << 9
	mostNotes    = 64 << 10
	mostNames    = 1 << 20 // bytes of section names
)

var errFormat = errors.New("not an ELF file of 64 bits in little-endian order")

// File is one ELF file.
type File struct {
	r        io.ReaderAt
	loads    []elf.Prog64
	notes    []elf.Prog64
	unwind   elf.Prog64 // PT_GNU_EH_FRAME
	sections []section
}

type section struct {
	name string
	elf.Section64
}

// Open reads the headers. The file must stay open for as long as File is used.
func Open(r io.ReaderAt) (*File, error) {
	var raw [64]byte
	if _, err := r.ReadAt(raw[:], 0); err != nil {
		return nil, fmt.Errorf("read the ELF header: %w", err)
	}
	if string(raw[:4]) != elf.ELFMAG || elf.Class(raw[elf.EI_CLASS]) != elf.ELFCLASS64 || elf.Data(raw[elf.EI_DATA]) != elf.ELFDATA2LSB {
		return nil, errFormat
	}
	var h elf.Header64
	if err := binary.Read(bytes.NewReader(raw[:]), binary.LittleEndian, &h); err != nil {
		return nil, fmt.Errorf("read the ELF header: %w", err)
	}
	f := &File{r: r}
	if err := f.readSegments(h); err != nil {
		return nil, err
	}
	// A file without sections (sstrip, a packer) still has its segments.
	f.readSections(h)
	return f, nil
}

func (f *File) readSegments(h elf.Header64) error {
	if h.Phnum == 0 {
		return nil // a file of debug information alone may have none that count
	}
	if h.Phnum > mostSegments || h.Phentsize != 56 {
		return fmt.Errorf("read the ELF segments: %d of %d bytes", h.Phnum, h.Phentsize)
	}
	raw, err := f.bytes(h.Phoff, uint64(h.Phnum)*56, mostSegments*56)
	if err != nil {
		return fmt.Errorf("read the ELF segments: %w", err)
	}
	all := make([]elf.Prog64, h.Phnum)
	if err := binary.Read(bytes.NewReader(raw), binary.LittleEndian, all); err != nil {
		return fmt.Errorf("read the ELF segments: %w", err)
	}
	for _, p := range all {
		switch elf.ProgType(p.Type) {
		case elf.PT_LOAD:
			f.loads = append(f.loads, p)
		case elf.PT_NOTE:
			f.notes = append(f.notes, p)
		case elf.PT_GNU_EH_FRAME:
			f.unwind = p
		}
	}
	return nil
}

func (f *File) readSections(h elf.Header64) {
	if h.Shnum == 0 || h.Shnum > mostSections || h.Shentsize != 64 || h.Shstrndx >= h.Shnum {
		return
	}
	raw, err := f.bytes(h.Shoff, uint64(h.Shnum)*64, mostSections*64)
	if err != nil {
		return
	}
	all := make([]elf.Section64, h.Shnum)
	if binary.Read(bytes.NewReader(raw), binary.LittleEndian, all) != nil {
		return
	}
	at := all[h.Shstrndx]
	names, err := f.bytes(at.Off, at.Size, mostNames)
	if err != nil {
		return
	}
	for _, s := range all {
		f.sections = append(f.sections, section{text(names, s.Name), s})
	}
}

// text is the string at an offset of a table of strings; "" beyond it.
func text(names []byte, at uint32) string {
	if uint64(at) >= uint64(len(names)) {
		return ""
	}
	s, _, _ := bytes.Cut(names[at:], []byte{0})
	return string(s[:min(len(s), 64)])
}

// bytes reads size bytes at off, most at most.
func (f *File) bytes(off, size, most uint64) ([]byte, error) {
	if size > most || off > math.MaxInt64-size {
		return nil, fmt.Errorf("%d bytes at %d are more than the %d that are read", size, off, most)
	}
	b := make([]byte, size)
	_, err := f.r.ReadAt(b, int64(off))
	if errors.Is(err, io.EOF) && size == 0 {
		err = nil
	}
	return b, err
}

func (f *File) section(names ...string) (elf.Section64, bool) {
	for _, s := range f.sections {
		for _, name := range names {
			// What is compressed (SHF_COMPRESSED) is no use: it can't be read in parts.
			if s.name == name && elf.SectionType(s.Type) != elf.SHT_NOBITS && elf.SectionFlag(s.Flags)&elf.SHF_COMPRESSED == 0 {
				return s.Section64, true
			}
		}
	}
	return elf.Section64{}, false
}

// Address is where the linker put what lies at an offset of the file.
func (f *File) Address(offset uint64) (uint64, bool) {
	for _, p := range f.loads {
		if offset >= p.Off && offset-p.Off < p.Filesz {
			return offset - p.Off + p.Vaddr, true
		}
	}
	return 0, false
}

// first is the lowest address of the file's segments.
func (f *File) first() uint64 {
	low := uint64(math.MaxUint64)
	for _, p := range f.loads {
		low = min(low, p.Vaddr)
	}
	if len(f.loads) == 0 {
		return 0
	}
	return low
}

// BuildID is the NT_GNU_BUILD_ID note (ld(1) --build-id), in hex; "" where there
// is none.
func (f *File) BuildID() string {
	for _, p := range f.notes {
		if id := f.buildID(p.Off, p.Filesz); id != "" {
			return id
		}
	}
	if s, ok := f.section(".note.gnu.build-id"); ok { // a file of debug information
		return f.buildID(s.Off, s.Size)
	}
	return ""
}

func (f *File) buildID(off, size uint64) string {
	notes, err := f.bytes(off, size, mostNotes)
	if err != nil {
		return ""
	}
	return NoteBuildID(notes)
}

const ntGNUBuildID = 3

// NoteBuildID finds the build id in notes, as a segment of a file has them, or
// /sys/kernel/notes of the running kernel.
func NoteBuildID(b []byte) string {
	id := ""
	eachNote(b, func(name string, kind uint32, content []byte) bool {
		if kind == ntGNUBuildID && name == "GNU\x00" && len(content) <= 64 {
			id = hex.EncodeToString(content)
			return false
		}
		return true
	})
	return id
}

// eachNote walks notes: name size, content size, type, then name and content, each
// padded to 4 bytes (elf(5)), until visit says false.
func eachNote(b []byte, visit func(name string, kind uint32, content []byte) bool) {
	for len(b) >= 12 {
		name, size, kind := uint64(binary.LittleEndian.Uint32(b)), uint64(binary.LittleEndian.Uint32(b[4:])), binary.LittleEndian.Uint32(b[8:])
		b = b[12:]
		from := (name + 3) &^ 3
		end := from + (size+3)&^3
		if name > uint64(len(b)) || from+size > uint64(len(b)) || !visit(string(b[:name]), kind, b[from:from+size]) {
			return
		}
		b = b[min(end, uint64(len(b))):]
	}
}

// DebugLink is the name of the file that the symbols were moved to and its CRC-32
// (objcopy(1) --add-gnu-debuglink).
func (f *File) DebugLink() (name string, crc uint32, ok bool) {
	s, found := f.section(".gnu_debuglink")
	if !found {
		return "", 0, false
	}
	raw, err := f.bytes(s.Off, s.Size, 4096)
	if err != nil || len(raw) < 8 {
		return "", 0, false
	}
	link, _, ended := bytes.Cut(raw, []byte{0})
	if !ended || len(link) == 0 || len(link) > 255 || bytes.IndexByte(link, '/') >= 0 || string(link) == ".." {
		return "", 0, false
	}
	return string(link), binary.LittleEndian.Uint32(raw[len(raw)-4:]), true
}
