package report

import (
	"strings"
	"testing"
	"time"

	"snag/recording"
	"snag/scene"
	"snag/verdict"
)

func looked() *recording.Recording {
	start := recording.Time(1_760_000_000_000_000_000)
	fact := func(name, value string) recording.Fact { return recording.Fact{T: start, Name: name, Value: value} }
	return &recording.Recording{
		Manifest:  recording.Manifest{Version: 1, CPUs: 2, Start: start, End: start.Add(10 * time.Second)},
		Processes: []recording.Process{{PID: 812, Comm: "api"}},
		Facts: []recording.Fact{
			fact("snag.closer.812", "lock-convoy suspected"), fact("snag.closer.left", "3"), fact("snag.budget", "0.02"),
			fact("snag.spent.offcpu", "0.05"), fact("snag.spent.syscalls", "0.15"), fact("snag.closer.x", "no pid"), fact("kernel.release", "6.18"),
		},
	}
}

func TestACloserLookIsTold(t *testing.T) {
	r := looked()
	v := &verdict.Verdict{Recording: r, Scene: scene.Build(r)}
	d := NewDocument(v)
	if d.Closer == nil || len(d.Closer.Processes) != 1 || d.Closer.Processes[0] != (CloserLook{812, "api", "lock-convoy suspected"}) || d.Closer.Left != 3 || d.Closer.Budget != 0.02 {
		t.Fatalf("%+v", d.Closer)
	}
	var text strings.Builder
	if err := WriteText(&text, v, Options{Width: 140}); err != nil {
		t.Fatal(err)
	}
	if want := "at api[812] and not at 3 more: offcpu, syscalls took 1.00 % of the machine, of 2 % allowed"; !strings.Contains(text.String(), want) {
		t.Errorf("no %q in\n%s", want, text.String())
	}
	r.Facts = nil
	if closerOf(r) != nil {
		t.Error("a closer look without a process")
	}
}
