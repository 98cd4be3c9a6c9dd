package elffile

import (
	"bytes"
)

// mostNamesRead bytes of a table of names are searched.
const mostNamesRead = 256 << 20

// Starts finds where the functions of those names begin; one that is not in the table
// is left out.
func (t *Functions) Starts(names ...string) map[string]uint64 {
	out := map[string]uint64{}
	if t == nil {
		return out
	}
	at := map[uint32]string{}
	for _, name := range names {
		for _, offset := range t.offsets(name) {
			at[offset] = name
		}
	}
	for _, f := range t.all {
		if name, ok := at[f.name]; ok {
			if _, twice := out[name]; !twice {
				out[name] = t.base + uint64(f.start)
			}
		}
	}
	return out
}

// offsets are where a name stands in the table of names, which may have it more than
// once. It is read a part at a time, each with the end of the one before.
func (t *Functions) offsets(name string) []uint32 {
	const part = 1 << 20
	word := append(append([]byte{0}, name...), 0)
	var out []uint32
	buf := make([]byte, part)
	for from := uint64(0); from < min(t.size, mostNamesRead); from += part - uint64(len(word)) {
		n, _ := t.r.ReadAt(buf[:min(part, t.size-from)], int64(t.names+from)) // shorter at the end of the file
		for b, skipped := buf[:n], 0; ; {
			i := bytes.Index(b, word)
			if i < 0 {
				break
			}
			out = append(out, uint32(from)+uint32(skipped+i+1))
			b, skipped = b[i+1:], skipped+i+1
		}
		if n < part {
			break
		}
	}
	return out
}
