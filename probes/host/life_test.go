package host

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snag/recording"
)

func TestAProbeRunsFromStartToStop(t *testing.T) {
	env, sink := liveEnv(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	running, err := Probe.Start(ctx, env)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(2200 * time.Millisecond)
	running.Stop()
	r := sink.Recording()
	whole, ok := r.Measured("host")
	if !ok || whole.Since == 0 || whole.Cost <= 0 {
		t.Errorf("coverage %+v", whole)
	}
	sum := 0.0
	for _, name := range measures {
		c, ok := r.Measured(name)
		if !ok && c.State != recording.CoverageUnavailable {
			t.Errorf("%s: %+v", name, c)
		}
		sum += c.Cost
	}
	if sum <= 0 || sum > whole.Cost {
		t.Errorf("the measures cost %g s of the probe's %g", sum, whole.Cost)
	}
	series := r.Select("node_netstat_TcpExt_ListenDrops")
	points := 0
	for _, s := range series {
		if s.Labels["netns"] == "" {
			points = len(s.Points)
			for i := 1; i < points; i++ {
				if s.Points[i].T <= s.Points[i-1].T {
					t.Error("samples out of order")
				}
			}
		}
	}
	if points < 3 {
		t.Errorf("%d points in 2.2 s, want at least the first, one or more between, the last", points)
	}
	own := 0
	for _, n := range r.Netns {
		if n.Own && n.ID == env.Netns && n.Name == "" {
			own++
		}
	}
	if own == 0 {
		t.Errorf("no row of the own namespace: %+v", r.Netns)
	}
}

func TestAStoppedContextStillStops(t *testing.T) {
	env, sink := liveEnv(t)
	ctx, cancel := context.WithCancel(context.Background())
	running, err := Probe.Start(ctx, env)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	running.Stop()
	if _, ok := sink.Recording().Measured("host.netstat"); !ok {
		t.Error("no coverage after an early end")
	}
}

func TestWithoutProcfsItSaysWhatToMount(t *testing.T) {
	env, _ := liveEnv(t)
	env.Proc = filepath.Join(t.TempDir(), "absent")
	_, err := Probe.Start(context.Background(), env)
	if err == nil || !strings.Contains(err.Error(), "mount procfs") {
		t.Errorf("error %v", err)
	}
}
