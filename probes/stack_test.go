package probes

import (
	"path/filepath"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// stackBound is what a program and the functions that it calls may have of stack in all, in bytes (MAX_BPF_STACK), and
// frameUnit what each frame is rounded up to. Later kernels round to 16, and the newest give some programs a stack of
// their own, so that a program may load here and be refused by Debian 13 (check_max_stack_depth in
// kernel/bpf/verifier.c).
const stackBound, frameUnit = 512, 32

// A program that needs too much is refused as a whole, and what it measures is not seen on those kernels.
func TestStacksFitOldKernels(t *testing.T) {
	objects, err := filepath.Glob("*/*_bpfel.o")
	if err != nil || len(objects) < 5 {
		t.Fatalf("objects: %v %v", objects, err)
	}
	for _, object := range objects {
		spec, err := ebpf.LoadCollectionSpec(object)
		if err != nil {
			t.Fatal(err)
		}
		for name, p := range spec.Programs {
			frames := framesOf(name, p.Instructions)
			if n, path := deepest(frames, name); n > stackBound {
				t.Errorf("%s: %s needs %d bytes of stack, of %d: %v", object, name, n, stackBound, path)
			}
		}
	}
}

// frame is a function's part of the stack, in bytes, and the functions that it calls, those that are called back
// included.
type frame struct {
	depth int
	calls []string
}

// framesOf are the functions of a program, by name.
func framesOf(program string, all asm.Instructions) map[string]*frame {
	out := map[string]*frame{}
	name, f := program, &frame{}
	at := map[asm.Register]int{asm.R10: 0} // where a register points in the frame
	for _, i := range all {
		if s := i.Symbol(); s != "" {
			name, f, at = s, &frame{}, map[asm.Register]int{asm.R10: 0}
		}
		out[name] = f
		f.take(i, at)
	}
	return out
}

// take notes what an instruction uses of the frame. at is followed in the order of the text: compilers make an address
// in the frame beside its use.
func (f *frame) take(i asm.Instruction, at map[asm.Register]int) {
	use := func(offset int) {
		if offset < 0 && offset >= -2*stackBound { // further down lies no variable: it is arithmetic
			f.depth = max(f.depth, -offset)
		}
	}
	class := i.OpCode.Class()
	base, is := at[i.Src]
	switch {
	case i.IsFunctionCall(), i.IsLoadOfFunctionPointer():
		f.calls = append(f.calls, i.Reference())
	case class.IsLoad() && is:
		use(base + int(i.Offset))
	case class.IsStore():
		if base, is := at[i.Dst]; is {
			use(base + int(i.Offset))
		}
		return
	case class == asm.ALU64Class && i.OpCode.ALUOp() == asm.Mov && i.OpCode.Source() == asm.RegSource && is:
		at[i.Dst] = base
		return
	case class == asm.ALU64Class && i.OpCode.ALUOp() == asm.Add && i.OpCode.Source() == asm.ImmSource:
		if base, is := at[i.Dst]; is {
			at[i.Dst] = base + int(i.Constant)
			use(at[i.Dst])
		}
		return
	}
	if i.Dst != asm.R10 {
		delete(at, i.Dst)
	}
}

// deepest is the most stack of a function and of those that it calls, and the way there. Programs have no recursion.
func deepest(frames map[string]*frame, name string) (most int, path []string) {
	f := frames[name]
	if f == nil {
		return 0, []string{name}
	}
	for _, called := range f.calls {
		if n, way := deepest(frames, called); n > most {
			most, path = n, way
		}
	}
	return most + (max(f.depth, 1)+frameUnit-1)/frameUnit*frameUnit, append([]string{name}, path...)
}
