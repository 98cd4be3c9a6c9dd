package host

import (
	"testing"
	"time"

	"snag/recording"
)

// What seldom changes of a process is read once a minute in a continuous recording, and each
// time where the process is looked at closer, runs another program, or the recording is a find's.
func TestSettingIsHeldForAMinute(t *testing.T) {
	c := child(t, "sleep", "60")
	r := newProcReader("/proc", 0)
	one := &process{pid: c.Process.Pid, comm: "sleep"}
	at := recording.Time(1000 * time.Second)
	row := func(after time.Duration, hold bool) recording.Process {
		out := recording.Process{T: at.Add(after)}
		r.row(one, &out, hold)
		return out
	}
	first := row(0, true)
	if first.Netns == 0 || first.FDLimit == 0 || first.FDs == nil {
		t.Fatalf("read %+v", first)
	}
	spoil := func() { one.setting.netns = 7 }
	for _, c := range []struct {
		name  string
		after time.Duration
		hold  bool
		comm  string
		want  uint64
	}{
		{"within a minute", holdsFor - time.Second, true, "sleep", 7},
		{"after a minute", holdsFor, true, "sleep", first.Netns},
		{"another program", 0, true, "other", first.Netns},
		{"not held", 0, false, "sleep", first.Netns},
	} {
		one.comm = "sleep"
		row(0, false)
		spoil()
		one.comm = c.comm
		if got := row(c.after, c.hold); got.Netns != c.want || got.FDs == nil {
			t.Errorf("%s: namespace %d, want %d; descriptors %v", c.name, got.Netns, c.want, got.FDs)
		}
	}
}
