package symbols

import (
	"testing"

	"snag/internal/elffile"
)

func TestStep(t *testing.T) {
	memory := map[uint64]uint64{0x1008: 0xaa, 0x1010: 0xbb, 0x1018: 0xcc, 0x1020: 0xdd}
	read := func(at uint64) (uint64, bool) { v, ok := memory[at]; return v, ok }
	at := Registers{IP: 0x400005, SP: 0x1000, BP: 0x1010}
	for _, c := range []struct {
		name    string
		row     elffile.Row
		known   bool
		want    Registers
		ok, ran bool
	}{
		{"stack pointer", elffile.Row{CFA: elffile.RegSP, Offset: 16, RA: -8}, true, Registers{0xaa, 0x1010, 0x1010}, true, false},
		{"saved frame pointer", elffile.Row{CFA: elffile.RegSP, Offset: 32, RA: -8, BP: -16, SavedBP: true}, true, Registers{0xcc, 0x1020, 0xbb}, true, false},
		{"frame pointer", elffile.Row{CFA: elffile.RegBP, Offset: 16, RA: -8}, true, Registers{0xcc, 0x1020, 0x1010}, true, false},
		{"no information", elffile.Row{}, false, Registers{0xcc, 0x1020, 0xbb}, true, false},
		{"beyond the copy", elffile.Row{CFA: elffile.RegSP, Offset: 4096, RA: -8}, true, at, false, true},
		{"backwards", elffile.Row{CFA: elffile.RegSP, Offset: 0, RA: -8}, true, at, false, false},
		{"another register", elffile.Row{CFA: 10, RA: -8}, true, at, false, false},
	} {
		got, ok, ran := step(at, c.row, c.known, read)
		if ok != c.ok || ran != c.ran || ok && got != c.want {
			t.Errorf("%s: %+v %v %v", c.name, got, ok, ran)
		}
	}
	plt := elffile.Row{CFA: elffile.RegSP, PLT: true, RA: -8}
	if got, ok, _ := step(Registers{IP: 0x40002b, SP: 0x1000}, plt, true, read); !ok || got.IP != 0xaa || got.SP != 0x1010 {
		t.Errorf("late in a stub: %+v", got)
	}
	if _, ok, _ := step(Registers{SP: 0x1000, BP: 0x800}, elffile.Row{}, false, read); ok {
		t.Error("a frame pointer below the stack was followed")
	}
}

func TestEndOfAWalk(t *testing.T) {
	odd := []Frame{{Function: "x+0x1", Object: "/bin/x"}}
	for end, want := range map[End]string{EndWhole: "", EndCopy: CutCopy, EndDeep: CutTooDeep, EndUnknown: CutNoFramePointers} {
		if got := end.Cut(odd); got != want {
			t.Errorf("%d: %q", end, got)
		}
	}
}
