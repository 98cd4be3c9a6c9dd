package unwind

import (
	"slices"
	"testing"

	"snag/internal/elffile"
)

func TestCallBefore(t *testing.T) {
	for _, c := range []struct {
		name string
		code []byte
		kind callKind
	}{
		{"call rel32", []byte{0xe8, 1, 2, 3, 4}, directCall},
		{"call rax", []byte{0xff, 0xd0}, indirectCall},
		{"call r11", []byte{0x41, 0xff, 0xd3}, indirectCall},
		{"call [rax]", []byte{0xff, 0x10}, indirectCall},
		{"call [rbx+8]", []byte{0xff, 0x53, 8}, indirectCall},
		{"call [rsp+8]", []byte{0xff, 0x54, 0x24, 8}, indirectCall},
		{"call [rax+0x1234]", []byte{0xff, 0x90, 0x34, 0x12, 0, 0}, indirectCall},
		{"call [r12+0x1234]", []byte{0xff, 0x94, 0x24, 0x34, 0x12, 0, 0}, indirectCall},
		{"call [rip+0x20]", []byte{0xff, 0x15, 0x20, 0, 0, 0}, indirectCall},
		{"push [rip+0x20]", []byte{0xff, 0x35, 0x20, 0, 0, 0}, noCall},
		{"jmp rax", []byte{0xff, 0xe0}, noCall},
		{"nop", []byte{0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90}, noCall},
	} {
		var b [beforeReturn]byte
		copy(b[beforeReturn-len(c.code):], c.code)
		if kind, _ := callBefore(b); kind != c.kind {
			t.Errorf("%s: %d, want %d", c.name, kind, c.kind)
		}
	}
}

// Callers in a library without call frame information, as musl's.
func TestSilentLibrary(t *testing.T) {
	const inWait, inLock, inHandle, inOther = 0x7020, 0x7850, 0x1100, 0x1900
	m := fake{kind: Silent, before: map[uint64][]byte{
		inLock:   call(inLock, 0x7000),   // mutex_lock calls lock_wait
		inHandle: call(inHandle, 0x1f10), // handle calls mutex_lock through its PLT
		inOther:  call(inOther, 0x1000),  // other calls handle
		0x1500:   {0x90, 0x90},           // no call
		0x1600:   call(0x1600, 0x1800),   // calls something else
		0x1700:   {0xff, 0xd0},           // call rax: within one object it says nothing
		0x1750:   {0xff, 0x15, 0, 0, 0, 0},
	}}
	for _, c := range []struct {
		name  string
		bp    uint64
		words []uint64
		want  []uint64
	}{
		{"two functions of the library, then the program's", 0, []uint64{7, inLock, 0x1500, inHandle}, []uint64{inLock, inHandle}},
		{"and who called that", 0, []uint64{inLock, inHandle, 0x1700, 0x1600, inOther}, []uint64{inLock, inHandle, inOther}},
		{"a frame pointer ends it", 0x9010, []uint64{inLock, 0, 0x9100, inOther, inHandle}, []uint64{inLock, inOther}},
		{"what is left of older calls is none", 0, []uint64{inOther, 0x1600, inHandle + 1, inLock}, []uint64{inLock}},
		{"a call through a pointer into the library", 0, []uint64{0x1750}, []uint64{0x1750}},
		{"nothing", 0, []uint64{0, 1, 1 << 60}, nil},
	} {
		chain := []uint64{inWait}
		if c.bp != 0 {
			chain = append(chain, inOther)
		}
		got := Leaves(m, At(inWait, 0x9000, c.bp), Stack{0x9000, words(c.words...)}, chain, 20)
		if !slices.Equal(got.Addresses[1:], c.want) {
			t.Errorf("%s: %x, want %x", c.name, got.Addresses[1:], c.want)
		}
		if got.Guess > 1 || got.Guess == 0 && len(c.want) > 0 {
			t.Errorf("%s: a guess from %d on", c.name, got.Guess)
		}
	}
}

func FuzzWalks(f *testing.F) {
	f.Add([]byte{0xe8, 0, 0, 0, 0}, words(0x1100, 0x9008, 0x1900), uint64(0x1100), uint64(0x9008), uint8(Bare))
	f.Add([]byte{0xff, 0xd0}, words(0x7020, 0x9000, 0x1900), uint64(0x7020), uint64(0x9000), uint8(Silent))
	f.Add([]byte{}, words(0x9000, 0x9000, 0x1900), uint64(0x1020), uint64(0x9000), uint8(FramePointers))
	rows := map[uint64]*elffile.Row{
		0x1100: row(elffile.RegSP, 16, nil), 0x1200: row(elffile.RegBP, 16, map[int]int32{elffile.RegBP: -16}),
		0x7000: {Signal: true, Expression: []byte{0x77, 0x08, 0x06}, Expressions: [][]byte{{0x77, 0x10}}},
	}
	rows[0x7000].Rules[elffile.RegRA].Kind = elffile.RuleExpression
	f.Fuzz(func(t *testing.T, code, stack []byte, ip, bp uint64, kind uint8) {
		m := fuzzed{fake{kind: Kind(kind % uint8(Told)), rows: rows}, code}
		at := At(ip, 0x9000, bp)
		for _, w := range []Walk{
			Full(m, at, Stack{0x9000, stack}, 50),
			Leaves(m, at, Stack{0x9000, stack}, []uint64{ip, bp, 0x1100}, 50),
		} {
			if len(w.Addresses) > 50 || w.Guess > len(w.Addresses) {
				t.Errorf("%+v", w)
			}
		}
	})
}

// fuzzed has the same code everywhere.
type fuzzed struct {
	fake
	code []byte
}

func (m fuzzed) Read(_ uint64, b []byte) bool { return copy(b, m.code) == len(b) }
