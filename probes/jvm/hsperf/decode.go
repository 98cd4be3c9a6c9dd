// Package hsperf reads hsperfdata: the file in which HotSpot keeps its counters, in
// version 2.0 of its layout (openjdk src/hotspot/share/runtime/perfMemory.hpp), as
// every JDK since 1.5 writes it.
//
// A prologue of 32 bytes:
//
//	0  magic        ca fe c0 c0, in this order whatever the byte order is
//	4  byte order   0 big, 1 little endian
//	5  major 6 minor, a byte each
//	7  accessible   0 until the JVM has set up its counters
//	8  used         int: bytes of the file that hold entries
//	12 overflow     int: bytes of counters that found no room
//	16 mod stamp    long: when an entry was added last, in ticks
//	24 entry offset int: where the first entry is
//	28 entries      int: how many there are
//
// and entries, each of which says how long it is:
//
//	0  length, 4 name offset, 8 vector length    int each; offsets from the entry
//	12 data type    a field descriptor: J (long), B (byte)
//	13 flags, 14 units, 15 variability           a byte each
//	16 data offset  int
//
// The JVM changes values without a lock while the file is read: a long is whole (it
// is aligned and written at once), two longs may be of two moments. Entries are
// only ever added, and counted after they are complete.
package hsperf

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

const (
	prologue  = 32
	entryHead = 20
	// mostEntries of a file: JDK 8 to 25 write 150 to 400.
	mostEntries = 10000
)

// Units of a counter (perfMemory.hpp, PerfData::Units).
const (
	Ticks  = 3
	String = 5
)

// Counter is one value.
type Counter struct {
	Units byte
	Long  int64  // of a number
	Text  string // of a string
}

// Data is the counters of one JVM by name, as sun.rt.safepoints.
type Data struct {
	Counters map[string]Counter
	Overflow int // bytes of counters that found no room (-XX:PerfDataMemorySize)
	Torn     int // entries that were cut off or did not fit: half-written
}

// Number returns a counter's value, and whether the JVM has it.
func (d Data) Number(name string) (int64, bool) {
	c, ok := d.Counters[name]
	return c.Long, ok && c.Units != String
}

// Text returns a string, "" where the JVM has none of that name.
func (d Data) Text(name string) string { return d.Counters[name].Text }

// Decode reads a file. The error says what is wrong with it as a whole; entries
// that are torn are left out and counted.
func Decode(b []byte) (Data, error) {
	if len(b) < prologue {
		return Data{}, fmt.Errorf("hsperfdata of %d bytes: it is cut off, or the JVM has just begun to write it (its head alone has %d)", len(b), prologue)
	}
	if !bytes.Equal(b[:4], []byte{0xca, 0xfe, 0xc0, 0xc0}) {
		return Data{}, fmt.Errorf("it begins with %x and not with cafec0c0: no hsperfdata", b[:4])
	}
	var order binary.ByteOrder = binary.BigEndian
	switch b[4] {
	case 0:
	case 1:
		order = binary.LittleEndian
	default:
		return Data{}, fmt.Errorf("hsperfdata with byte order %d: 0 (big) and 1 (little) are known", b[4])
	}
	if b[5] != 2 {
		return Data{}, fmt.Errorf("hsperfdata of version %d.%d: only version 2 is known (JDK 1.5 to 25)", b[5], b[6])
	}
	if b[7] == 0 {
		return Data{}, fmt.Errorf("hsperfdata that the JVM has not finished to set up (accessible 0)")
	}
	word := func(at int) int { return int(int32(order.Uint32(b[at:]))) }
	used, first, n := word(8), word(24), word(28)
	if used < prologue || used > len(b) {
		return Data{}, fmt.Errorf("hsperfdata says that %d bytes are used of a file of %d: half-written", used, len(b))
	}
	if first < prologue || first > used || n < 0 || n > mostEntries {
		return Data{}, fmt.Errorf("hsperfdata says that %d entries begin at byte %d of %d: half-written", n, first, used)
	}
	d := Data{Counters: make(map[string]Counter, n), Overflow: max(0, word(12))}
	b = b[:used]
	for at, i := first, 0; i < n; i++ {
		name, c, length, ok := entry(b[min(at, used):], order)
		if length < entryHead {
			d.Torn += n - i // where the next one begins can't be told
			break
		}
		if ok {
			d.Counters[name] = c
		} else {
			d.Torn++
		}
		at += length
	}
	return d, nil
}

// entry reads the entry that b begins with, and how long it is; a length of less
// than an entry's head where that can't be told. ok is false for one that holds
// nothing that is wanted, or whose parts lie outside of it.
func entry(b []byte, order binary.ByteOrder) (name string, c Counter, length int, ok bool) {
	if len(b) < entryHead {
		return "", c, 0, false
	}
	word := func(at int) int { return int(int32(order.Uint32(b[at:]))) }
	length = word(0)
	if length < entryHead || length > len(b) {
		return "", c, 0, false
	}
	nameAt, vector, dataAt := word(4), word(8), word(16)
	if nameAt < entryHead || nameAt >= length || dataAt < entryHead || dataAt > length || vector < 0 {
		return "", c, length, false
	}
	end := bytes.IndexByte(b[nameAt:length], 0)
	if end <= 0 {
		return "", c, length, false
	}
	name, c.Units = string(b[nameAt:nameAt+end]), b[14]
	data := b[dataAt:length]
	switch {
	case b[12] == 'J' && vector == 0 && len(data) >= 8:
		c.Long = int64(order.Uint64(data))
	case b[12] == 'B' && c.Units == String && vector <= len(data):
		text := data[:vector]
		if end := bytes.IndexByte(text, 0); end >= 0 {
			text = text[:end]
		}
		c.Text = string(text)
	default:
		return "", c, length, false
	}
	return name, c, length, true
}
