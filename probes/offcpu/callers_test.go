package offcpu

import (
	"encoding/binary"
	"slices"
	"testing"

	"snag/probes/symbols"
)

// image is a process whose code is written here: a program at 0x1000 that calls through
// its PLT at 0x1f00, and a library at 0x7000.
type image map[uint64][]byte

func (m image) code(address uint64, b []byte) bool {
	clear(b)
	if address == 0x1f10 {
		copy(b, []byte{0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25})
		return true
	}
	at, ok := m[address+7] // by return address
	if ok {
		copy(b[7-len(at):], at)
	}
	return ok
}

func (m image) frame(address uint64) symbols.Frame {
	f := symbols.Frame{Named: true}
	switch {
	case address >= 0x7000 && address < 0x8000:
		f.Object, f.Function = "/lib/libc.so.6", "lock_wait"
		if address >= 0x7800 {
			f.Function = "mutex_lock"
		}
	case address >= 0x1f00 && address < 0x2000:
		f.Object, f.Function, f.Named = "/srv/api", "api+0x1f00", false
	case address >= 0x1000 && address < 0x2000:
		f.Object, f.Function = "/srv/api", "handle"
		if address >= 0x1800 {
			f.Function = "other"
		}
	}
	return f
}

func call(from, to uint64) []byte {
	return binary.LittleEndian.AppendUint32([]byte{0xe8}, uint32(int32(int64(to)-int64(from))))
}

func TestMissedCallers(t *testing.T) {
	const inWait, inLock, inHandle, inOther = 0x7020, 0x7850, 0x1100, 0x1900
	m := image{
		inLock:   call(inLock, 0x7000),   // mutex_lock calls lock_wait
		inHandle: call(inHandle, 0x1f10), // handle calls mutex_lock through its PLT
		inOther:  call(inOther, 0x1000),  // other calls handle
		0x1500:   {0x90, 0x90},           // no call
		0x1600:   call(0x1600, 0x1800),   // calls something else
		0x1700:   {0xff, 0xd0},           // call rax: within one object it says nothing
		0x1750:   {0xff, 0x15, 0, 0, 0, 0},
	}
	p := process{code: m.code, frame: m.frame}
	for _, c := range []struct {
		name  string
		bp    uint64
		words []uint64
		want  []uint64
	}{
		{"two functions of the library, then the program's", 0, []uint64{7, inLock, 0x1500, inHandle}, []uint64{inLock, inHandle}},
		{"and who called that", 0, []uint64{inLock, inHandle, 0x1700, 0x1600, inOther}, []uint64{inLock, inHandle, inOther}},
		{"a frame pointer ends it", 0x9010, []uint64{inLock, 0, inHandle}, []uint64{inLock}},
		{"what is left of older calls is none", 0, []uint64{inOther, 0x1600, inHandle + 1, inLock}, []uint64{inLock}},
		{"a call through a pointer into the library", 0, []uint64{0x1750}, []uint64{0x1750}},
		{"nothing", 0, []uint64{0, 1, 1 << 60}, nil},
	} {
		top := kernelTop{Ip: inWait, Sp: 0x9000, Bp: c.bp}
		copy(top.Words[:], c.words)
		if got := missedCallers(top, p); !slices.Equal(got, c.want) {
			t.Errorf("%s: %x, want %x", c.name, got, c.want)
		}
	}
}

func TestParseText(t *testing.T) {
	const maps = `55d0c8a00000-55d0c8a01000 r--p 00000000 fe:00 131 /srv/a b/api
55d0c8a01000-55d0c8a02000 r-xp 00001000 fe:00 131 /srv/a b/api
7f0000000000-7f0000001000 r-xp 00001000 fe:00 132 /lib/libc.so.6
`
	if a, b := parseText([]byte(maps), "/srv/a b/api"); a != 0x55d0c8a01000 || b != 0x55d0c8a02000 {
		t.Errorf("%x-%x", a, b)
	}
	if a, b := parseText([]byte(maps), "/srv/other"); a != 0 || b != 0 {
		t.Errorf("%x-%x", a, b)
	}
}

func FuzzMissedCallers(f *testing.F) {
	f.Add([]byte{0xe8, 0, 0, 0, 0}, uint64(0x1100))
	f.Fuzz(func(t *testing.T, code []byte, word uint64) {
		p := process{code: func(_ uint64, b []byte) bool { copy(b, code); return true }, frame: image{}.frame}
		top := kernelTop{Ip: 0x7020, Sp: 0x9000}
		for i := range top.Words {
			top.Words[i] = word + uint64(i)
		}
		if got := missedCallers(top, p); len(got) > mostMissed {
			t.Errorf("%d callers", len(got))
		}
	})
}

func FuzzText(f *testing.F) {
	f.Add([]byte("1-2 r-xp 0 0 1 /a\n"), "/a")
	f.Fuzz(func(t *testing.T, maps []byte, file string) {
		if a, b := parseText(maps, file); a > b {
			t.Errorf("%x-%x", a, b)
		}
	})
}

func TestParseNSpid(t *testing.T) {
	for text, want := range map[string][]int{
		"Name:\tx\nNSpid:\t812\t7\nNSpgid:\t1\n": {812, 7}, "Name:\tx\nNSpid:\t812\n": {812},
		"Name:\tx\n": nil, "\nNSpid:\tx\n": nil, "\nNSpid:": nil,
	} {
		if got := parseNSpid([]byte(text)); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func FuzzNSpid(f *testing.F) {
	f.Add([]byte("Name:\tx\nNSpid:\t812\t7\n"))
	f.Fuzz(func(t *testing.T, status []byte) {
		if got := parseNSpid(status); len(got) > len(status) {
			t.Errorf("%d ids out of %d bytes", len(got), len(status))
		}
	})
}
