package symbols

import (
	"testing"

	"snag/internal/unwind"
)

func TestEndOfAWalk(t *testing.T) {
	odd := []Frame{{Function: "x+0x1", Object: "/bin/x"}}
	for end, want := range map[unwind.End]string{unwind.EndWhole: "", unwind.EndCopy: CutCopy, unwind.EndDeep: CutTooDeep, unwind.EndUnknown: CutNoFramePointers} {
		if got := CutAfter(end, odd); got != want {
			t.Errorf("%d: %q", end, got)
		}
	}
	if got := CutAfter(unwind.EndCopy, []Frame{{Function: "start_thread"}}); got != "" {
		t.Errorf("at a thread's start: %q", got)
	}
}
