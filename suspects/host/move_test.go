package host

import (
	"testing"

	"snag/recording"
	"snag/scene"
	"snag/suspects/suspect"
	"snag/suspects/suspect/suspecttest"
)

// A process is moved away from the CPUs on which it waits, if the others have the time.
func TestMoveTo(t *testing.T) {
	for _, c := range []struct {
		name, group, own, neighbour string
		idle                        float64 // seconds of each CPU but 0
		want                        string
	}{
		{"the other is idle", "/", "0", "0-1", 20, "1"},
		{"the other is busy", "/", "0", "0-1", 9, "0-1"},
		{"several others", "/", "0-1", "0-3", 20, "2-3"},
		{"the group's other processes have no more", "/a", "0", "0", 20, ""},
		{"one of the group has more", "/a", "0", "0-2", 20, "1-2"},
		{"nobody says what the root group has", "/", "0", "0", 20, "1-3"},
		{"CPUs that others are kept from, too, are left alone", "/a", "0", "0-1", 20, "1"}, // isolcpus=2,3
		{"it may run everywhere", "/", "0-3", "0-3", 20, ""},
		{"not read", "/", "", "0-3", 20, ""},
	} {
		r := suspecttest.HostOf(4)
		r.Processes = []recording.Process{{T: 1, PID: 80, Comm: "api", CPUs: c.own, Cgroup: c.group}, {T: 1, PID: 81, Comm: "other", CPUs: c.neighbour, Cgroup: c.group}}
		r.Series = []recording.Series{suspecttest.GrowingTo("node_cpu_seconds_total", recording.Labels{"cpu": "0", "mode": "user"}, 30)}
		for _, cpu := range []string{"1", "2", "3"} {
			r.Series = append(r.Series, suspecttest.GrowingTo("node_cpu_seconds_total", recording.Labels{"cpu": cpu, "mode": "idle"}, c.idle),
				suspecttest.GrowingTo("node_cpu_seconds_total", recording.Labels{"cpu": cpu, "mode": "user"}, 30-c.idle))
		}
		recording.SortSeries(r.Series)
		s := scene.Build(r)
		if got := moveTo(s, r, cpuWait{process: s.Processes[0], waited: 90, ran: 5}, 4); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// The hard limit is taken where the soft one was far below it: no privilege is needed for that.
func TestWantedDescriptors(t *testing.T) {
	for _, c := range []struct {
		most, hard int
		want       string
	}{
		{9, 72, "72:72"},
		{1024, 524288, "65536:524288"},
		{94, 100, "65536:65536"},
	} {
		if got := (fullTable{most: c.most, hard: c.hard}).wanted(); got != c.want {
			t.Errorf("%d of %d: %s, want %s", c.most, c.hard, got, c.want)
		}
	}
	r := suspecttest.HostOf(2)
	r.Processes = []recording.Process{{T: 1, PID: 80, Comm: "server", FDLimit: 9, FDHard: 72}}
	p := scene.Build(r).Processes[0]
	f := addRefused(suspect.Finding{}, r, p, refusals{n: 5, call: "accept", at: []recording.Interval{{Start: 2, End: 3}}})
	if f.Remedy.Now != "prlimit --pid 80 --nofile=72:72" {
		t.Errorf("%q", f.Remedy.Now)
	}
}
