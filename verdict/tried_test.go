package verdict

import (
	"slices"
	"testing"

	"snag/recording"
	"snag/recording/rectest"
	"snag/suspects/suspect"
)

// loadTried reads a case of experiments, changed.
func loadTried(t *testing.T, name string, change func(r *recording.Recording)) *Verdict {
	t.Helper()
	c, err := rectest.Load("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	change(c.Recording)
	return Judge(c.Recording)
}

// What experiments rule out is ruled out for their service: each entry that they clear names it, or snag itself, and
// its evidence is an experiment with its number.
func TestExperimentsClearTheirServiceOnly(t *testing.T) {
	v := loadTried(t, "eliminate-rules-out.txtar", func(*recording.Recording) {})
	n := 0
	for _, e := range v.With(Cleared) {
		if !e.Tried {
			continue
		}
		n++
		if s := e.Subject; s.Kind != recording.KindObserver && s.Remote != "10.0.0.1:8080" {
			t.Errorf("%s is cleared on %+v", e.Suspect.Name, s)
		}
		for _, p := range e.Evidence {
			if p.Side != suspect.Against || p.Unit == "" {
				t.Errorf("%s: %+v", e.Suspect.Name, p)
			}
		}
	}
	if n != 6 {
		t.Errorf("%d entries are cleared by experiments", n)
	}
}

// One suspect that was not measured is enough to clear nobody: it could have the cause as well.
func TestOneThatWasNotMeasuredClearsNobody(t *testing.T) {
	v := loadTried(t, "eliminate-rules-out.txtar", func(r *recording.Recording) {
		for i := range r.Experiments {
			if r.Experiments[i].Experiment == "rates" {
				r.Experiments[i].Suspects[0].State = recording.NotMeasured
			}
		}
	})
	for _, name := range []string{"worker-queue", "busy-thread", "slow-dependency"} {
		if holds(v, "no cleared "+name) != nil {
			t.Errorf("%s is cleared, and higher rates were not tried", name)
		}
	}
}

// overflow is a finding of the host's own probes on a listener, which acts in those seconds.
func overflow(sub recording.Subject, start, end recording.Time) suspect.Finding {
	return suspect.Finding{Subject: sub, Active: []recording.Interval{{Start: start, End: end}}, Evidence: []suspect.Evidence{{Side: suspect.For, Grade: suspect.Strong, Text: "dropped", Origin: "probe"}}}
}

// Experiments are evidence of a finding on their service at their time, and of no other.
func TestExperimentsJoinTheFindingOfTheirService(t *testing.T) {
	c, err := rectest.Load("testdata/eliminate-rules-out.txtar")
	if err != nil {
		t.Fatal(err)
	}
	r := c.Recording
	v := Judge(r)
	all := tried(v.Scene, r)
	if len(all) != 1 {
		t.Fatalf("%d services", len(all))
	}
	from, to := r.Experiments[0].T, r.Experiments[0].T.Add(60e9)
	here := recording.Subject{Kind: recording.KindFlow, Netns: 1, Proto: "tcp", Remote: "10.0.0.1:8080"}
	other, elsewhere, udp := here, here, here
	udp.Proto = "udp"
	other.Remote = "10.0.0.2:8080"
	elsewhere.Netns = 2
	for name, x := range map[string]struct {
		f    suspect.Finding
		want bool
	}{
		"its service":       {overflow(here, from, to), true},
		"another address":   {overflow(other, from, to), false},
		"another protocol":  {overflow(udp, from, to), false},
		"another namespace": {overflow(elsewhere, from, to), false},
		"another time":      {overflow(here, to, to.Add(60e9)), false},
	} {
		said := abouts("listen-overflow", all)
		join(v.Scene, &x.f, said)
		against := slices.ContainsFunc(x.f.Evidence, func(e suspect.Evidence) bool { return e.Side == suspect.Against })
		if against != x.want {
			t.Errorf("%s: evidence against: %v", name, against)
		}
		// What was counted decisively is not taken back by an experiment.
		if prove(append(x.f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Decisive})) != confirmed {
			t.Errorf("%s: an experiment outweighs a count", name)
		}
	}
}

// A finding of the probes and an experiment that suspects the same, on one service, prove it together.
func TestAnExperimentAndAProbeProve(t *testing.T) {
	v := loadTried(t, "eliminate-suspects.txtar", func(*recording.Recording) {})
	said := abouts("slow-dependency", tried(v.Scene, v.Recording))
	f := overflow(recording.Subject{Kind: recording.KindPeer, Netns: 1, Remote: "10.0.0.1:8080"}, v.Recording.Experiments[0].T, 0)
	if prove(f.Evidence) != unproven {
		t.Fatal("one strong piece is not proof")
	}
	if with := join(v.Scene, &f, said); len(with) != 1 || prove(f.Evidence) != confirmed {
		t.Errorf("%+v", f.Evidence)
	}
}

// Without rights a host's own view is cut, and nobody is cleared by it; experiments need no rights.
func TestExperimentsNeedNoRights(t *testing.T) {
	v := loadTried(t, "eliminate-suspects.txtar", func(r *recording.Recording) {
		for i := range r.Coverage {
			if c := &r.Coverage[i]; c.Probe == "host.processes" || c.Probe == "host" {
				c.State, c.Why, c.Cure = recording.CoveragePartial, "only this user's", "run as root, or with CAP_SYS_PTRACE"
			}
		}
	})
	if _, cut := v.Cut(); !cut {
		t.Fatalf("the view is not cut: %+v", v.Recording.Coverage)
	}
	if err := holds(v, "cleared upstream-refused 10.0.0.1:8080"); err != nil {
		t.Error(err)
	}
}
