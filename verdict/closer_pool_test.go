package verdict_test

import (
	"testing"

	"snag/recording/rectest"
	"snag/verdict"
)

// TestACloserLookAtThePoolsWorkers: the finding names who forked them, and it is they
// whose calls tell what the handlers wait for.
func TestACloserLookAtThePoolsWorkers(t *testing.T) {
	c, err := rectest.Load("../suspects/testdata/worker-queue/guilty-processes.txtar")
	if err != nil {
		t.Fatal(err)
	}
	at := map[int]bool{}
	for _, l := range verdict.Closer(verdict.Judge(c.Recording)) {
		at[l.PID] = true
	}
	if !at[70] || !at[71] || !at[72] {
		t.Errorf("looks at %v, want 70, who forked them, 71 and 72", at)
	}
}
