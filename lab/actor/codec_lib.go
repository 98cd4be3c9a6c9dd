package actor

import (
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Layout of a codec library's file: an ELF header, one program header of its
// notes, the note of its build id, and what a frame costs in it.
const (
	elfHeader, programHeader = 64, 56
	noteAt                   = elfHeader + programHeader
	noteSize                 = 12 + 4 + sha1.Size
	workAt                   = noteAt + noteSize
	codecSize                = workAt + 8
)

// WriteCodecLibrary writes a file that stands for a shared library: an ELF file
// (elf(5)) with a build id of its own, which the codec server maps to execute, and
// which says how much CPU time a request takes: a slower build says more.
func WriteCodecLibrary(path, version string, work time.Duration) error {
	b := make([]byte, codecSize)
	le := binary.LittleEndian
	copy(b, "\x7fELF\x02\x01\x01")
	le.PutUint16(b[16:], 3)    // ET_DYN
	le.PutUint16(b[18:], 0x3e) // EM_X86_64
	le.PutUint32(b[20:], 1)
	le.PutUint64(b[32:], elfHeader) // program headers
	le.PutUint16(b[52:], elfHeader)
	le.PutUint16(b[54:], programHeader)
	le.PutUint16(b[56:], 1)
	p := b[elfHeader:]
	le.PutUint32(p, 4)     // PT_NOTE
	le.PutUint32(p[4:], 4) // PF_R
	le.PutUint64(p[8:], noteAt)
	le.PutUint64(p[32:], noteSize)
	le.PutUint64(p[40:], noteSize)
	n := b[noteAt:]
	le.PutUint32(n, 4)
	le.PutUint32(n[4:], sha1.Size)
	le.PutUint32(n[8:], 3) // NT_GNU_BUILD_ID
	copy(n[12:], "GNU\x00")
	id := sha1.Sum([]byte(version))
	copy(n[16:], id[:])
	le.PutUint64(b[workAt:], uint64(work))
	return os.WriteFile(path, b, 0o755)
}

// loadCodecLibrary maps the library, as the loader does, for as long as the
// process lives, and returns what a request costs in it.
func loadCodecLibrary(path string) (time.Duration, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	m, err := unix.Mmap(int(f.Fd()), 0, codecSize, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE)
	if err != nil {
		return 0, fmt.Errorf("map %s: %w", path, err)
	}
	work := time.Duration(binary.LittleEndian.Uint64(m[workAt:]))
	if work < 0 || work > time.Second {
		return 0, fmt.Errorf("%s is not a codec library", path)
	}
	return work, nil
}
