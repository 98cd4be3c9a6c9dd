package hsperf

import (
	"encoding/binary"
	"os"
	"strconv"
	"strings"
	"testing"
)

// serial17 is what OpenJDK 17.0.15 (Debian 12, amd64) with SerialGC wrote; beside
// it what its own jcmd PerfCounter.print said of it a moment before.
func serial17(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/serial17.hsperfdata")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDecodeAsJcmdDoes(t *testing.T) {
	d, err := Decode(serial17(t))
	if err != nil || d.Torn != 0 || d.Overflow != 0 {
		t.Fatalf("%v, %d torn, overflow %d", err, d.Torn, d.Overflow)
	}
	printed, err := os.ReadFile("testdata/serial17.txt")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, line := range strings.Split(string(printed), "\n") {
		name, value, ok := strings.Cut(line, "=")
		if !ok || strings.HasPrefix(name, "sun.perfdata.") { // jcmd makes these of the head
			continue
		}
		seen++
		if text, quoted := strings.CutPrefix(value, `"`); quoted {
			if got := d.Text(name); got != strings.TrimSuffix(text, `"`) {
				t.Errorf("%s: %q, jcmd says %s", name, got, value)
			}
			continue
		}
		want, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			t.Fatal(line)
		}
		got, ok := d.Number(name)
		// The file was copied a moment after jcmd had asked.
		if !ok || got < want || name != "sun.os.hrt.ticks" && float64(got) > 1.2*float64(want)+1000 {
			t.Errorf("%s: %d %v, jcmd says %d", name, got, ok, want)
		}
	}
	if seen < 150 {
		t.Errorf("compared %d counters only", seen)
	}
}

func TestDecodeOfWhatIsBroken(t *testing.T) {
	change := func(at int, bytes ...byte) []byte {
		b := append([]byte(nil), serial17(t)...)
		copy(b[at:], bytes)
		return b
	}
	whole := serial17(t)
	for name, c := range map[string]struct {
		b    []byte
		want string // part of the error
	}{
		"empty":              {nil, "0 bytes"},
		"a head cut off":     {whole[:31], "31 bytes"},
		"no hsperfdata":      {change(0, 0x7f, 'E', 'L', 'F'), "no hsperfdata"},
		"no byte order":      {change(4, 7), "byte order 7"},
		"version 1":          {change(5, 1, 0), "version 1.0"},
		"version 3":          {change(5, 3, 1), "version 3.1"},
		"not accessible":     {change(7, 0), "accessible 0"},
		"used beyond":        {change(8, 0xff, 0xff, 0xff, 0x7f), "half-written"},
		"used negative":      {change(8, 0xff, 0xff, 0xff, 0xff), "half-written"},
		"entries beyond":     {change(24, 0xff, 0xff, 0, 0), "half-written"},
		"too many entries":   {change(28, 0, 0, 0, 0x7f), "half-written"},
		"the file truncated": {whole[:2000], "half-written"},
	} {
		_, err := Decode(c.b)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", name, err, c.want)
		}
	}
}

// TestDecodeTornEntries: what can be read is read, and the rest is counted.
func TestDecodeTornEntries(t *testing.T) {
	whole, err := Decode(serial17(t))
	if err != nil {
		t.Fatal(err)
	}
	first := int(binary.LittleEndian.Uint32(serial17(t)[24:]))
	length := int(binary.LittleEndian.Uint32(serial17(t)[first:]))
	for name, c := range map[string]struct {
		at    int
		value uint32
		torn  int
	}{
		"the first one's name lies outside":   {first + 4, 1 << 30, 1},
		"its data lies outside":               {first + 16, 1 << 30, 1},
		"the second one has no length":        {first + length, 0, len(whole.Counters) - 1},
		"the second one reaches past the end": {first + length, 1 << 20, len(whole.Counters) - 1},
	} {
		b := append([]byte(nil), serial17(t)...)
		binary.LittleEndian.PutUint32(b[c.at:], c.value)
		d, err := Decode(b)
		if err != nil || d.Torn != c.torn || len(d.Counters) != len(whole.Counters)-c.torn {
			t.Errorf("%s: %v, %d torn and %d read of %d, want %d torn", name, err, d.Torn, len(d.Counters), len(whole.Counters), c.torn)
		}
	}
}

// TestDecodeBigEndian: s390x writes the other order. Made by hand by the layout.
func TestDecodeBigEndian(t *testing.T) {
	b := make([]byte, 128)
	copy(b, []byte{0xca, 0xfe, 0xc0, 0xc0, 0, 2, 0, 1})
	be := binary.BigEndian
	be.PutUint32(b[8:], 80)
	be.PutUint32(b[12:], 24)
	be.PutUint32(b[24:], 32)
	be.PutUint32(b[28:], 1)
	be.PutUint32(b[32:], 48)
	be.PutUint32(b[36:], 20)
	be.PutUint32(b[48:], 40)
	b[44], b[46] = 'J', Ticks
	copy(b[52:], "sun.rt.safepoints\x00")
	be.PutUint64(b[72:], 77)
	d, err := Decode(b)
	if n, ok := d.Number("sun.rt.safepoints"); err != nil || !ok || n != 77 || d.Overflow != 24 {
		t.Errorf("%v: %+v", err, d)
	}
}

func FuzzDecode(f *testing.F) {
	b := serial17(f)
	f.Add(b)
	f.Add(b[:2000])
	f.Add([]byte{0xca, 0xfe, 0xc0, 0xc0, 0, 2, 0, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := Decode(b)
		if err == nil && (d.Torn < 0 || d.Overflow < 0 || len(d.Counters)+d.Torn > mostEntries) {
			t.Errorf("%d counters, %d torn, overflow %d", len(d.Counters), d.Torn, d.Overflow)
		}
	})
}
