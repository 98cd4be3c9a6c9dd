package elffile

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// Probe is a static probe (USDT), a place in a program that its authors marked for
// tracers: a no-op instruction, and a note of type stapsdt that reports where it
// is and which registers hold its arguments
// (https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation).
type Probe struct {
	Provider, Name string
	// Offset is where it lies in the file, as uprobes want it. Semaphore is the
	// offset of the counter that must not be 0 for it to be reached; 0: none.
	Offset    uint64
	Semaphore uint64
	Args      []string // "8@%rax", "-4@-8(%rbp)"
}

const (
	ntStapsdt      = 3
	mostProbeNotes = 4 << 20 // bytes; libjvm has about 50 kB of them
	mostProbes     = 1 << 14
)

// Probes lists the file's static probes; none where it has none, or where its
// notes can't be read.
func (f *File) Probes() []Probe {
	s, ok := f.section(".note.stapsdt")
	if !ok {
		return nil
	}
	notes, err := f.bytes(s.Off, s.Size, mostProbeNotes)
	if err != nil {
		return nil
	}
	// Where the file was prelinked, its base moved since the notes were written.
	base, moved := f.section(".stapsdt.base")
	var out []Probe
	eachNote(notes, func(name string, kind uint32, content []byte) bool {
		if name != "stapsdt\x00" || kind != ntStapsdt || len(content) < 24 {
			return true
		}
		at, was, semaphore := binary.LittleEndian.Uint64(content), binary.LittleEndian.Uint64(content[8:]), binary.LittleEndian.Uint64(content[16:])
		if moved {
			at += base.Addr - was
			if semaphore != 0 {
				semaphore += base.Addr - was
			}
		}
		fields := bytes.SplitN(content[24:], []byte{0}, 4)
		offset, inFile := f.Offset(at)
		if len(fields) < 3 || !inFile {
			return true
		}
		p := Probe{Provider: string(fields[0]), Name: string(fields[1]), Offset: offset, Args: strings.Fields(string(fields[2]))}
		if semaphore != 0 {
			if p.Semaphore, inFile = f.Offset(semaphore); !inFile {
				return true
			}
		}
		out = append(out, p)
		return len(out) < mostProbes
	})
	return out
}

// Offset is where in the file the byte of an address lies: Address the other way.
func (f *File) Offset(address uint64) (uint64, bool) {
	for _, p := range f.loads {
		if address >= p.Vaddr && address-p.Vaddr < p.Filesz {
			return address - p.Vaddr + p.Off, true
		}
	}
	return 0, false
}
