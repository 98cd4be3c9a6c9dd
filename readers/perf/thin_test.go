package perf

import (
	"fmt"
	"strings"
	"testing"

	"snag/readers/reader"
)

// Of more stacks than are kept the heaviest stay whole wherever they stand in the file,
// and each function has exactly the samples that it ran in.
func TestRareStacksGiveWay(t *testing.T) {
	s := &sink{}
	f := &folding{tally: newTally(s), byName: map[string]int32{}}
	want := map[string]uint64{}
	line := func(stack, leaf string, n uint64) {
		text := fmt.Sprintf("app;%s;%s %d\n", stack, leaf, n)
		want[leaf] += n
		f.take(reader.Chunk{Data: []byte(text), Last: true})
	}
	for i := range 3 * mostStacks {
		line(fmt.Sprintf("main;f%d;g%d", i%300, i/300), fmt.Sprintf("leaf%d", i%97), uint64(1+i%3))
		if i%1000 == 0 {
			line(fmt.Sprintf("heavy;h%d", i/1000), "leaf0", 50)
		}
	}
	line("main;work", "hot", 5000)
	f.end()
	got, whole := map[string]uint64{}, map[string]uint64{}
	stacks := map[int][]string{}
	for _, st := range s.Stacks {
		if stacks[st.ID] != nil {
			t.Fatalf("two stacks have the number %d", st.ID)
		}
		stacks[st.ID] = st.Frames
	}
	for _, row := range s.OnCPU {
		frames := stacks[row.Stack]
		if len(frames) == 0 {
			t.Fatalf("%+v has no stack", row)
		}
		got[frames[0]] += row.N
		if outer := frames[len(frames)-1]; outer != otherCallers {
			whole[strings.Join(frames, ";")] += row.N
		}
	}
	for leaf, n := range want {
		if got[leaf] != n {
			t.Errorf("%s: %d samples, want %d", leaf, got[leaf], n)
		}
	}
	if whole["hot;work;main"] != 5000 {
		t.Errorf("the heaviest has %d samples, want 5000", whole["hot;work;main"])
	}
	for i := 0; i <= 3*mostStacks; i += 1000 {
		if stack := fmt.Sprintf("leaf0;h%d;heavy", i/1000); whole[stack] != 50 {
			t.Errorf("%s has %d samples, want 50", stack, whole[stack])
		}
	}
	if len(s.Stacks) > mostStacks+97 || len(whole) < mostStacks/3 {
		t.Errorf("%d stacks, %d of them whole", len(s.Stacks), len(whole))
	}
	told := f.told("folded stacks", placed{})
	if c := told.Coverage[0]; !strings.Contains(c.Why, "without its callers") || c.Lost != 0 {
		t.Errorf("%+v", c)
	}
}
