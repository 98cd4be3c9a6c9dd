package elffile

import (
	"encoding/binary"
	"testing"
)

func TestGNUBuildID(t *testing.T) {
	note := func(name string, kind uint32, content string) []byte {
		b := binary.LittleEndian.AppendUint32(nil, uint32(len(name)))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(content)))
		b = binary.LittleEndian.AppendUint32(b, kind)
		for _, part := range []string{name, content} {
			b = append(b, part...)
			for len(b)%4 != 0 {
				b = append(b, 0)
			}
		}
		return b
	}
	both := append(note("GNU\x00", 1, "abi-tag!"), note("GNU\x00", 3, "\xde\xad\xbe\xef\x01")...)
	if got := NoteBuildID(both); got != "deadbeef01" {
		t.Errorf("%q", got)
	}
	for n := range both {
		if got := NoteBuildID(both[:n]); got != "" && got != "deadbeef01" {
			t.Errorf("cut at %d: %q", n, got)
		}
	}
	if got := NoteBuildID(note("Go\x00\x00", 4, "x")); got != "" {
		t.Errorf("Go's own id is taken for one: %q", got)
	}
}
