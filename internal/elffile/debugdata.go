package elffile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/ulikunitz/xz/lzma"
)

const mostPacked = 8 << 20 // bytes of .gnu_debugdata that are read

var errXZ = errors.New("not an xz stream of one block of LZMA2")

// DebugData unpacks the symbols that a stripped file carries along (.gnu_debugdata,
// GDB's "Debugging information in a special section"): those that .dynsym has not, in an
// ELF file packed by xz. bytes is what the unpacked file takes, most at most. Nil where
// there is none.
func (f *File) DebugData(most int) (in *File, size int, err error) {
	s, ok := f.section(".gnu_debugdata")
	if !ok {
		return nil, 0, nil
	}
	packed, err := f.bytes(s.Off, s.Size, mostPacked)
	if err != nil {
		return nil, 0, fmt.Errorf("read .gnu_debugdata: %w", err)
	}
	raw, err := unpack(packed, most)
	if err != nil {
		return nil, 0, fmt.Errorf("unpack .gnu_debugdata: %w", err)
	}
	in, err = Open(bytes.NewReader(raw))
	return in, len(raw), err
}

// unpack reads the first block of an xz stream (the .xz file format, 1.2.0): that is all
// there is, as xz makes more of them only out of larger files. The header is read here so
// that the dictionary, which the file may say is of 4 GiB, is bounded by what is unpacked.
func unpack(packed []byte, most int) (raw []byte, err error) {
	// What it is given comes out of others' files: a fault of the library is no end.
	defer func() {
		if recover() != nil {
			raw, err = nil, errXZ
		}
	}()
	body, dictionary, err := blockOf(packed)
	if err != nil {
		return nil, err
	}
	config := lzma.Reader2Config{DictCap: int(min(dictionary, uint64(most)))}
	config.DictCap = max(config.DictCap, lzma.MinDictCap)
	r, err := config.NewReader2(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	raw, err = io.ReadAll(io.LimitReader(r, int64(most)+1))
	if err == nil && len(raw) > most {
		err = fmt.Errorf("more than %d bytes", most)
	}
	return raw, err
}

// blockOf is the data of a stream's first block and the size of its dictionary.
func blockOf(b []byte) (data []byte, dictionary uint64, err error) {
	const (
		streamHeader = 12
		lzma2        = 0x21
		sizes        = 0xc0 // the block says its size, packed or unpacked
	)
	if len(b) < streamHeader+8 || !bytes.HasPrefix(b, []byte("\xfd7zXZ\x00")) {
		return nil, 0, errXZ
	}
	size := 4 * (int(b[streamHeader]) + 1)
	if b[streamHeader] == 0 || len(b) < streamHeader+size { // 0: no block but the index
		return nil, 0, errXZ
	}
	header := b[streamHeader:][:size]
	flags, rest := header[1], header[2:]
	if flags&^sizes != 0 { // one filter
		return nil, 0, errXZ
	}
	for bit := byte(0x40); bit != 0; bit <<= 1 {
		if flags&bit == 0 {
			continue
		}
		_, n := binary.Uvarint(rest)
		if n <= 0 {
			return nil, 0, errXZ
		}
		rest = rest[n:]
	}
	if len(rest) < 3 || rest[0] != lzma2 || rest[1] != 1 || rest[2] > 40 {
		return nil, 0, errXZ
	}
	bits := uint(rest[2])
	return b[streamHeader+size:], (2 | uint64(bits&1)) << (bits/2 + 11), nil
}
