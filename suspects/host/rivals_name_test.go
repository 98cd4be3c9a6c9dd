package host

import (
	"testing"

	"snag/recording"
	"snag/scene"
)

func TestRivalsAreCountedByName(t *testing.T) {
	p := &scene.Process{Node: scene.Node{Subject: recording.Subject{Name: "python3[71]", Comm: "python3", PID: 71}}}
	for n, want := range map[int]string{
		1: "python3[71]",
		2: "python3[71] and 1 more process named python3",
		3: "python3[71] and 2 more processes named python3",
	} {
		v := rival{}
		for range n {
			v.processes = append(v.processes, p)
		}
		if got := v.name(); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
