package unwind

import (
	"errors"
	"slices"
	"testing"

	"snag/internal/elffile"
)

const sp = elffile.RegSP

// The library has no frame pointers, the program has: the library's frames by call frame
// information, the rest by the walk that the kernel made.
func TestLeavesUpToTheFirstFrameThatKeepsItsPointer(t *testing.T) {
	keeps := row(elffile.RegBP, 16, map[int]int32{elffile.RegBP: -16})
	m := fake{kind: Bare, rows: map[uint64]*elffile.Row{
		0x7000: row(sp, 16, nil),                               // lock_wait: one word of its own
		0x7800: row(sp, 24, map[int]int32{elffile.RegBP: -16}), // mutex_lock saves the frame pointer
		0x1100: keeps, 0x1200: keeps, 0x1300: keeps,
	}}
	stack := words(1 /* of lock_wait */, 0x7850, 2, 0x9100 /* saved */, 0x1110, 3)
	at := At(0x7020, 0x9000, 0x9100)
	got := Leaves(m, at, Stack{0x9000, stack}, []uint64{0x7020, 0x1220, 0x1330}, 20)
	if want := []uint64{0x7020, 0x7850, 0x1110, 0x1220, 0x1330}; !slices.Equal(got.Addresses, want) || got.Guess != 0 {
		t.Errorf("%x %+v, want %x", got.Addresses, got, want)
	}
	// The register was used for something else: the kernel's walk is nothing, the copy
	// has the program's frames.
	stack = append(stack, make([]byte, 0x100-len(stack))...)
	copy(stack[0x100-8:], words(0))
	stack = append(stack, words(0x9120, 0x1220, 0, 0, 0, 0x1330)...)
	at.Set(elffile.RegBP, 77)
	got = Leaves(m, at, Stack{0x9000, stack}, []uint64{0x7020}, 20)
	if want := []uint64{0x7020, 0x7850, 0x1110, 0x1220, 0x1330}; !slices.Equal(got.Addresses, want) || got.End != EndUnknown {
		t.Errorf("%x %+v, want %x", got.Addresses, got, want)
	}
	// Code that nothing is known of but that it keeps frame pointers.
	got = Leaves(fake{kind: FramePointers}, at, Stack{}, []uint64{0x7020, 0x1220}, 20)
	if want := []uint64{0x7020}; !slices.Equal(got.Addresses, want[:1]) && len(got.Addresses) != 2 {
		t.Errorf("%x", got.Addresses)
	}
}

func TestCaller(t *testing.T) {
	s := Stack{0x1000, words(0x10, 0xaa, 0xbb, 0xcc, 0xdd)}
	at := At(0x400005, 0x1000, 0x1010)
	at.Set(10, 0x1010)
	deref := &elffile.Row{Expression: []byte{0x76, 0x78, 0x06, 0x23, 0x10}} // [rbp-8]+16
	deref.Rules[elffile.RegRA] = elffile.Rule{Kind: elffile.RuleOffset, Offset: -8}
	plt := &elffile.Row{Expression: []byte{0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}} // as ld writes it
	plt.Rules[elffile.RegRA] = elffile.Rule{Kind: elffile.RuleOffset, Offset: -8}
	val := row(sp, 16, nil)
	val.Rules[elffile.RegBX] = elffile.Rule{Kind: elffile.RuleValueExpression}
	val.Expressions = [][]byte{{0x23, 0x18}} // the CFA and 24
	for _, c := range []struct {
		name       string
		row        *elffile.Row
		ip, sp, bp uint64
		err        error
	}{
		{"stack pointer", row(sp, 16, nil), 0xaa, 0x1010, 0x1010, nil},
		{"saved frame pointer", row(sp, 32, map[int]int32{elffile.RegBP: -16}), 0xcc, 0x1020, 0xbb, nil},
		{"frame pointer", row(elffile.RegBP, 16, nil), 0xcc, 0x1020, 0x1010, nil},
		{"another register", row(10, 16, nil), 0xcc, 0x1020, 0x1010, nil},
		{"a register that is not known", row(12, 16, nil), 0, 0, 0, errUnknown},
		{"beyond the copy", row(sp, 4096, nil), 0, 0, 0, errBeyond},
		{"backwards", row(sp, 0, nil), 0, 0, 0, errUnknown},
		{"a stub, early", plt, 0x10, 0x1008, 0x1010, nil},
		{"values", val, 0xaa, 0x1010, 0x1010, nil},
	} {
		got, err := caller(&at, c.row, s)
		if !errors.Is(err, c.err) || err == nil && (got.IP() != c.ip || got.SP() != c.sp || got.BP() != c.bp) {
			t.Errorf("%s: %x %v", c.name, got.value, err)
		}
	}
	if got, err := caller(&at, val, s); err != nil || got.value[elffile.RegBX] != 0x1010+24 {
		t.Errorf("%x %v", got.value, err)
	}
	late := At(0x40002b, 0x1000, 0)
	if got, err := caller(&late, plt, s); err != nil || got.IP() != 0xaa || got.SP() != 0x1010 {
		t.Errorf("late in a stub: %x %v", got.value, err)
	}
	if _, err := caller(&at, deref, s); !errors.Is(err, errUnknown) { // [0x1008]+16 is 0xba, below the stack
		t.Errorf("%v", err)
	}
}

// Through a signal's frame: of what it interrupted the address is that of an instruction.
func TestSignal(t *testing.T) {
	trampoline := &elffile.Row{Signal: true, Expression: []byte{0x77, 0xa0, 1, 0x06}} // [rsp+160]
	trampoline.Rules[elffile.RegRA] = elffile.Rule{Kind: elffile.RuleExpression, Offset: 0}
	trampoline.Expressions = [][]byte{{0x77, 0xa8, 1}} // rsp+168
	m := fake{kind: Bare, rows: map[uint64]*elffile.Row{0x1000: row(sp, 8, nil), 0x7000: trampoline, 0x1200: row(sp, 8, nil)}}
	m.rows[0x1300] = &elffile.Row{CFA: sp, Offset: 8}
	m.rows[0x1300].Rules[elffile.RegRA].Kind = elffile.RuleUndefined
	frame := make([]uint64, 30)
	frame[0] = 0x7010    // the handler returns to the trampoline
	frame[1+20] = 0x9080 // rsp: 160 bytes above where it then is
	frame[1+21] = 0x1200 // rip: the first instruction of a function
	frame[16] = 0x1310   // its return address
	want := []uint64{0x1010, 0x7011, 0x1201, 0x1310}
	got := Full(m, At(0x1010, 0x9000, 0), Stack{0x9000, words(frame...)}, 20)
	if !slices.Equal(got.Addresses, want) || got.End != EndWhole {
		t.Errorf("%x %+v", got.Addresses, got)
	}
	// Without call frame information, by its code.
	delete(m.rows, 0x7000)
	m.before = map[uint64][]byte{0x7010: sigreturn[:]}
	got = Full(m, At(0x1010, 0x9000, 0), Stack{0x9000, words(frame...)}, 20)
	if want[1] = 0x7010; len(got.Addresses) < 3 || got.Addresses[2] != 0x1201 {
		t.Errorf("%x %+v, want %x", got.Addresses, got, want)
	}
}

func TestExpressionsEnd(t *testing.T) {
	at := At(1, 2, 3)
	for _, c := range []struct {
		name string
		code []byte
		want uint64
		ok   bool
	}{
		{"empty", nil, 0, false},
		{"too deep", slices.Repeat([]byte{0x31}, 100), 0, false},
		{"nothing to add", []byte{0x22}, 0, false},
		{"cut", []byte{0x0c, 1, 2}, 0, false},
		{"a number without an end", []byte{0x10, 0x80}, 0, false},
		{"a branch", []byte{0x31, 0x2f, 0xfc, 0xff}, 0, false},
		{"a register that is not known", []byte{0x7c, 0}, 0, false},
		{"const1s", []byte{0x09, 0xff, 0x34, 0x22}, 3, true},
		{"over, swap, neg, not", []byte{0x31, 0x32, 0x14, 0x16, 0x1f, 0x20, 0x22, 0x22}, 3, true},
		{"shra, xor, or", []byte{0x11, 0x70, 0x32, 0x26, 0x31, 0x27, 0x38, 0x21}, ^uint64(3) ^ 1 | 8, true},
	} {
		got, err := evaluate(c.code, &at, Stack{})
		if (err == nil) != c.ok || c.ok && got != c.want {
			t.Errorf("%s: %#x %v", c.name, got, err)
		}
	}
}

func FuzzExpression(f *testing.F) {
	f.Add([]byte{0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22})
	f.Add([]byte{0x76, 0x78, 0x06, 0x12, 0x13, 0x14})
	f.Fuzz(func(t *testing.T, code []byte) {
		at := At(1, 0x9000, 3)
		if v, err := evaluate(code, &at, Stack{0x9000, code}); err != nil && len(code) == 0 && v != 0 {
			t.Error(v)
		}
	})
}

// Python's trampolines, which lie between two frames of its interpreter, in both forms.
func TestTrampoline(t *testing.T) {
	for name, bp := range map[string]uint64{"it keeps no frame pointer": 0x77, "it keeps one": 0x9000} {
		at := At(0x7f0000001000, 0x9000, bp)
		got, err := trampoline(&at, Stack{0x9000, words(0x9040, 0x1110, 3)})
		if err != nil || got.IP() != 0x1110 || got.SP() != 0x9010 {
			t.Errorf("%s: %x %x, %v", name, got.IP(), got.SP(), err)
		}
		if want := map[uint64]uint64{0x77: 0x77, 0x9000: 0x9040}[bp]; got.BP() != want {
			t.Errorf("%s: frame pointer %#x, want %#x", name, got.BP(), want)
		}
	}
	at := At(0x7f0000001000, 0x9000, 0)
	if _, err := trampoline(&at, Stack{0x9000, words(1)}); !errors.Is(err, errBeyond) {
		t.Errorf("%v", err)
	}
}
