package pcap

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"snag/internal/packet"
)

// classicFile is a pcap of three frames of 18 bytes, of 1000 on the wire, at
// 1700000000 s and so many units.
func classicFile(o binary.AppendByteOrder, magic uint32) []byte {
	b := o.AppendUint32(nil, magic)
	b = o.AppendUint16(b, 2)
	b = o.AppendUint16(b, 4)
	for _, v := range []uint32{0, 0, 65535, 1} {
		b = o.AppendUint32(b, v)
	}
	for i := range uint32(3) {
		for _, v := range []uint32{1700000000, i + 5, 18, 1000} {
			b = o.AppendUint32(b, v)
		}
		if magic == magicModified {
			b = append(b, 0, 0, 0, 1, 0, 8, 0, 0)
		}
		b = append(b, frame(byte(i))...)
	}
	return b
}

func frame(i byte) []byte { return append(make([]byte, 12), 8, 0, 0x45, i, 0, 20) }

// block makes a block of pcapng.
func block(o binary.AppendByteOrder, kind uint32, body []byte) []byte {
	for len(body)%4 != 0 {
		body = append(body, 0)
	}
	n := uint32(len(body) + 12)
	b := o.AppendUint32(nil, kind)
	b = o.AppendUint32(b, n)
	return o.AppendUint32(append(b, body...), n)
}

func option(o binary.AppendByteOrder, code uint16, v []byte) []byte {
	b := o.AppendUint16(nil, code)
	b = o.AppendUint16(b, uint16(len(v)))
	b = append(b, v...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}

func sectionOf(o binary.AppendByteOrder, comment string) []byte {
	b := o.AppendUint32(nil, magicOrder)
	b = o.AppendUint16(b, 1)
	b = o.AppendUint16(b, 0)
	b = append(b, 255, 255, 255, 255, 255, 255, 255, 255)
	return block(o, magicSection, append(b, option(o, 1, []byte(comment))...))
}

func interfaceOf(o binary.AppendByteOrder, link uint16, snap uint32, options ...[]byte) []byte {
	b := o.AppendUint16(nil, link)
	b = o.AppendUint16(b, 0)
	b = o.AppendUint32(b, snap)
	return block(o, blockInterface, append(b, bytes.Join(options, nil)...))
}

func enhanced(o binary.AppendByteOrder, iface uint32, ticks uint64, data []byte, options ...[]byte) []byte {
	b := o.AppendUint32(nil, iface)
	b = o.AppendUint32(b, uint32(ticks>>32))
	b = o.AppendUint32(b, uint32(ticks))
	b = o.AppendUint32(b, uint32(len(data)))
	b = o.AppendUint32(b, 1000)
	b = append(b, data...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return block(o, blockEnhanced, append(b, bytes.Join(options, nil)...))
}

// ngFile has two sections of different byte orders, three interfaces, every kind of
// packet block, and blocks that nobody knows.
func ngFile() []byte {
	le, be := binary.LittleEndian, binary.BigEndian
	stats := le.AppendUint32(nil, 1)
	stats = append(stats, make([]byte, 8)...)
	stats = append(stats, option(le, 4, le.AppendUint64(nil, 77))...)
	stats = append(stats, option(le, 5, le.AppendUint64(nil, 3))...)
	stats = append(stats, option(le, 7, le.AppendUint64(nil, 4))...)
	simple := append(be.AppendUint32(nil, 18), frame(4)...)
	old := be.AppendUint64([]byte{0, 0, 0, 5}, 1700000001<<10)
	old = append(append(old, 0, 0, 0, 18, 0, 0, 0, 18), frame(5)...)
	return bytes.Join([][]byte{
		sectionOf(le, "made by hand"),
		interfaceOf(le, 1, 0, option(le, 2, []byte("eth0\x00"))),
		interfaceOf(le, 276, 96, option(le, 2, []byte("any")), option(le, 9, []byte{9}), option(le, 14, le.AppendUint64(nil, 100))),
		enhanced(le, 0, 1700000000_000007, frame(1), option(le, 4, le.AppendUint64(nil, 2))),
		block(le, 0x0bad, []byte("what nobody knows")),
		enhanced(le, 1, 1700000000_000000007, frame(2)),
		block(le, blockStatistics, stats),
		sectionOf(be, "the second"),
		interfaceOf(be, 1, 65535, option(be, 9, []byte{0x80 | 10})),
		enhanced(be, 0, 1700000000<<10|512, frame(3)),
		block(be, blockSimple, simple),
		block(be, blockPacket, old),
	}, nil)
}

func readAll(t testing.TB, b []byte) (*Reader, []Frame, error) {
	t.Helper()
	r, err := New(bytes.NewReader(b))
	if err != nil {
		return nil, nil, err
	}
	var all []Frame
	for {
		var f Frame
		if err := r.Next(&f); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return r, all, err
		}
		f.Data = bytes.Clone(f.Data)
		all = append(all, f)
	}
}

func TestClassic(t *testing.T) {
	for _, o := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		for magic, unit := range map[uint32]int64{magicMicro: 1000, magicNano: 1, magicModified: 1000} {
			b := classicFile(o, magic)
			if !Sniff(b) {
				t.Errorf("%v %#x: not known by its beginning", o, magic)
			}
			r, all, err := readAll(t, b)
			if err != nil || len(all) != 3 {
				t.Fatalf("%v %#x: %d frames, %v", o, magic, len(all), err)
			}
			for i, f := range all {
				if f.At != 1700000000e9+int64(i+5)*unit || f.Wire != 1000 || !bytes.Equal(f.Data, frame(byte(i))) || f.Link != packet.LinkEthernet {
					t.Errorf("%v %#x: frame %d: %+v", o, magic, i, f)
				}
			}
			if _, told := r.Dropped(); told {
				t.Error("a pcap file does not tell of losses")
			}
			if r.Offset() != int64(len(b)) {
				t.Errorf("read up to %d of %d", r.Offset(), len(b))
			}
		}
	}
}

// Files that were put together by cat, of different byte orders even.
func TestTogether(t *testing.T) {
	b := append(classicFile(binary.LittleEndian, magicNano), classicFile(binary.BigEndian, magicMicro)...)
	_, all, err := readAll(t, b)
	if err != nil || len(all) != 6 || all[0].At != 1700000000e9+5 || all[5].At != 1700000000e9+7000 {
		t.Fatalf("%d frames, %v", len(all), err)
	}
}

func TestNG(t *testing.T) {
	r, all, err := readAll(t, ngFile())
	if err != nil || len(all) != 5 {
		t.Fatalf("%d frames, %v", len(all), err)
	}
	at := []int64{1700000000e9 + 7000, 1700000100e9 + 7, 1700000000e9 + 5e8, 0, 1700000001e9}
	for i, f := range all {
		wire, link := 1000, packet.LinkEthernet
		if i > 2 {
			wire = 18
		}
		if i == 1 {
			link = packet.LinkSLL2
		}
		if f.At != at[i] || f.Wire != wire || f.Link != link || !bytes.Equal(f.Data, frame(byte(i+1))) {
			t.Errorf("frame %d: %+v", i, f)
		}
	}
	if n, told := r.Dropped(); n != 7 || !told {
		t.Errorf("dropped %d, %v", n, told)
	}
	ifs := r.Interfaces()
	if len(ifs) != 3 || ifs[0].Name != "eth0" || ifs[1].Name != "any" || ifs[1].Snap != 96 || ifs[0].Dropped != nil || *ifs[1].Received != 77 {
		t.Errorf("interfaces %+v", ifs)
	}
	if r.Comment() != "made by hand" {
		t.Errorf("comment %q", r.Comment())
	}
}

// Every file that is cut short gives the frames that are whole, and says where.
func TestTorn(t *testing.T) {
	for name, b := range map[string][]byte{"pcap": classicFile(binary.LittleEndian, magicMicro), "pcapng": ngFile()} {
		_, whole, err := readAll(t, b)
		if err != nil {
			t.Fatal(err)
		}
		for n := 1; n < len(b); n++ {
			_, all, err := readAll(t, b[:n])
			var torn *TornError
			switch {
			case errors.As(err, &torn):
				if torn.Frames != uint64(len(all)) || torn.Offset > int64(n) {
					t.Fatalf("%s of %d bytes: %v, %d frames", name, n, err, len(all))
				}
			case err != nil && n >= 52: // of a whole header, pcapng's with its comment
				t.Fatalf("%s of %d bytes: %v", name, n, err)
			case err == nil && n < 24:
				t.Fatalf("%s: a header of %d bytes is one", name, n)
			}
			for i, f := range all {
				if f.At != whole[i].At || !bytes.Equal(f.Data, whole[i].Data) {
					t.Fatalf("%s of %d bytes: frame %d is another", name, n, i)
				}
			}
		}
	}
}

// The file's own errors are not taken for its end.
func TestReadError(t *testing.T) {
	bad := errors.New("the disk is gone")
	r, err := New(io.MultiReader(bytes.NewReader(classicFile(binary.LittleEndian, magicNano)[:80]), iotest.ErrReader(bad)))
	if err != nil {
		t.Fatal(err)
	}
	var f Frame
	for err == nil {
		err = r.Next(&f)
	}
	if !errors.Is(err, bad) {
		t.Error(err)
	}
}

// A length that lies is no reason to take memory for it.
func TestLies(t *testing.T) {
	b := classicFile(binary.LittleEndian, magicMicro)
	binary.LittleEndian.PutUint32(b[24+8:], 0x7fffffff)
	_, all, err := readAll(t, b)
	var torn *TornError
	if !errors.As(err, &torn) || len(all) != 0 || torn.Offset != 24 {
		t.Errorf("%d frames, %v", len(all), err)
	}
	le := binary.LittleEndian
	promise := le.AppendUint32(le.AppendUint32(sectionOf(le, ""), blockEnhanced), 15<<20)
	r, err := New(bytes.NewReader(append(promise, make([]byte, 100)...)))
	if err != nil {
		t.Fatal(err)
	}
	var f Frame
	if err := r.Next(&f); !errors.As(err, &torn) || len(r.buf) != bufferSize {
		t.Errorf("%v, a buffer of %d", err, len(r.buf))
	}
}

func TestSniff(t *testing.T) {
	for _, s := range []string{"", "strace", "\x0a\x0d\x0d\x0a is not a section", "\xd4\xc3\xb2"} {
		if Sniff([]byte(s)) {
			t.Errorf("%q is taken for a capture", s)
		}
	}
	if !Sniff(ngFile()) {
		t.Error("pcapng is not known")
	}
	if _, err := New(bytes.NewReader([]byte("no capture at all, but text"))); !errors.Is(err, ErrFormat) {
		t.Error(err)
	}
	if _, err := New(bytes.NewReader(nil)); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// One read gives a byte at a time: nothing depends on how the file comes.
func TestTrickle(t *testing.T) {
	r, err := New(iotest.OneByteReader(bytes.NewReader(ngFile())))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	var f Frame
	for ; r.Next(&f) == nil; n++ {
		if !bytes.Equal(f.Data, frame(byte(n+1))) {
			t.Errorf("frame %d: % x", n, f.Data)
		}
	}
	if n != 5 {
		t.Errorf("%d frames", n)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(classicFile(binary.LittleEndian, magicMicro))
	f.Add(classicFile(binary.BigEndian, magicModified))
	f.Add(ngFile())
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := New(bytes.NewReader(b))
		if err != nil {
			return
		}
		var fr Frame
		last := int64(-1)
		for n := 0; ; n++ {
			if err := r.Next(&fr); err != nil {
				break
			}
			if fr.Wire < len(fr.Data) || fr.Offset <= last || fr.At < 0 || n > len(b) {
				t.Fatalf("frame %d: %d of %d bytes, at %d, offset %d after %d", n, len(fr.Data), fr.Wire, fr.At, fr.Offset, last)
			}
			last = fr.Offset
		}
		if len(r.Interfaces()) > maxKept || len(r.buf) > 2*maxBlock {
			t.Fatal("it took too much memory")
		}
	})
}

func BenchmarkNext(b *testing.B) {
	one := classicFile(binary.LittleEndian, magicNano)
	for range 10 {
		one = append(one, one[24:]...)
	}
	b.SetBytes(int64(len(one)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := New(bytes.NewReader(one))
		if err != nil {
			b.Fatal(err)
		}
		var f Frame
		for err == nil {
			err = r.Next(&f)
		}
	}
}
