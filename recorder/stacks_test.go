package recorder

import (
	"fmt"
	"reflect"
	"runtime"
	"testing"

	"snag/recording"
)

// deepStack is one of many that share their functions, as those of one program do.
func deepStack(id int) recording.Stack {
	s := recording.Stack{ID: id, Kernel: 2, Cut: "no frame pointers", Guessed: 3}
	for i := range 40 {
		s.Frames = append(s.Frames, fmt.Sprintf("cmd/compile/internal/ssa.function%d", (id+i*7)%1000))
		s.Objects = append(s.Objects, "/usr/local/go/pkg/tool/linux_amd64/compile")
	}
	return s
}

func TestStacksAreKeptAsTheyCame(t *testing.T) {
	t.Parallel()
	s := newStacks()
	all := []recording.Stack{deepStack(1), deepStack(2), {ID: 3, Frames: []string{"read"}, Kernel: -1}}
	for _, row := range all {
		s.put(row)
	}
	for _, want := range all {
		if got, ok := s.get(want.ID); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	if _, ok := s.get(4); ok {
		t.Error("a stack that never came is known")
	}
}

func TestStacksThatAreNotUsedGo(t *testing.T) {
	t.Parallel()
	s := newStacks()
	for id := range mostKnown + 1 {
		s.put(deepStack(id))
	}
	s.put(recording.Stack{ID: -1, Frames: []string{"of a program that has ended"}})
	s.prune(map[int]bool{5: true}, map[int]bool{6: true})
	for id := 5; id <= 6; id++ {
		if got, ok := s.get(id); !ok || !reflect.DeepEqual(got, deepStack(id)) {
			t.Errorf("%d, in use, is now %+v", id, got)
		}
	}
	if len(s.known) != 2 || len(s.names) > 81 {
		t.Errorf("%d stacks, %d names are left of 2 in use", len(s.known), len(s.names))
	}
	s.prune()
	if len(s.known) != 2 {
		t.Errorf("%d stacks: so few may stay", len(s.known))
	}
}

// A recorder that has run for hours knows thousands of stacks. It is not parallel: it measures the heap.
func TestMemoryOfKnownStacks(t *testing.T) {
	inUse := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	w := &pieceWriter{wire: newTrigger(), known: newStacks()}
	before := inUse()
	for id := range mostKnown {
		w.Append(deepStack(id))
	}
	if took := int64(inUse()) - int64(before); took > 6<<20 {
		t.Errorf("%d stacks take %.1f MB, more than 6", mostKnown, float64(took)/1e6)
	}
	runtime.KeepAlive(w)
}
