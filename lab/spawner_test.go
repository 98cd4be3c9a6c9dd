package lab

import "testing"

// Who is still at work when the stage ends gets an error.
func TestNothingIsStartedAfterTheEnd(t *testing.T) {
	p := newSpawner()
	if err := p.in("", func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	p.stop()
	if err := p.in("", func() error { return nil }); err == nil {
		t.Error("it ran on a stage that had ended")
	}
}
