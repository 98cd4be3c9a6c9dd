package drawn

import (
	"strings"
	"testing"

	"snag/lab"
	"snag/lab/referee"
)

var (
	fast = referee.Figures{Requests: 1000, P50: 0.010, P99: 0.020}
	slow = referee.Figures{Requests: 1000, P50: 0.050, P99: 0.090}
)

func part(family string, f referee.Figures) Part {
	return Part{Family: family, Kind: Cache, Origin: Real, Figures: f, Truth: &Truth{
		Fault: "slow-command", Suspects: []string{"busy-thread", "worker-queue"}, Subject: family, Also: []string{"cpu-saturated"},
	}}
}

func runs(faulty ...Part) (healthy, sick Kept) {
	healthy, sick = Kept{Key: "h", Seed: 4}, Kept{Key: "f", Seed: 4, Faulty: true, Parts: faulty}
	for _, p := range faulty {
		p.Figures = fast
		healthy.Parts = append(healthy.Parts, p)
	}
	return healthy, sick
}

// said makes an answer of lines "state suspect subject".
func said(lines ...string) lab.Answer {
	a := lab.Answer{Version: 1}
	for i, l := range lines {
		f := strings.Fields(l)
		a.Verdict = append(a.Verdict, lab.AnswerEntry{State: f[0], Suspect: f[1], Subject: lab.Subject(f[2]), Confidence: 0.9 - float64(i)/10})
	}
	return a
}

func TestMarks(t *testing.T) {
	broken := Kept{Key: "x", Faulty: true, Error: "no such command"}
	bad := part("redis", slow)
	for _, c := range []struct {
		name     string
		parts    []Part
		of       string // which run is marked
		answer   lab.Answer
		class    Class
		ac1, ac3 float64
		subject  float64
		wrong    int
		nothing  bool
	}{
		{"right", []Part{part("redis", slow)}, "f", said("culprit busy-thread redis-server:6379"), Incident, 1, 1, 1, 0, false},
		{"right by another name", []Part{part("redis", slow)}, "f", said("culprit worker-queue redis-server"), Incident, 1, 1, 1, 0, false},
		{"right on another's process", []Part{part("redis", slow)}, "f", said("culprit busy-thread nginx"), Incident, 1, 1, 0, 1, false},
		{"true besides", []Part{part("redis", slow)}, "f", said("culprit busy-thread redis", "culprit cpu-saturated batch"), Incident, 1, 1, 1, 0, false},
		{"second", []Part{part("redis", slow)}, "f", said("culprit packet-loss eth0", "culprit busy-thread redis"), Incident, 0, 1, 1, 1, false},
		{"only a risk", []Part{part("redis", slow)}, "f", said("risk busy-thread redis"), Incident, 0, 1, 0, 0, true},
		{"nothing", []Part{part("redis", slow)}, "f", said("cleared busy-thread redis"), Incident, 0, 0, 0, 0, true},
		{"one of two", []Part{part("redis", slow), part("nginx", slow)}, "f", said("culprit busy-thread redis"), Incident, 1, 1, 0.5, 0, false},
		{"nobody noticed, nobody named", []Part{part("redis", fast)}, "f", said("risk busy-thread redis"), Unnoticed, 0, 0, 0, 0, true},
		{"nobody noticed, and named", []Part{part("redis", fast)}, "f", said("culprit busy-thread redis"), Unnoticed, 0, 0, 0, 1, false},
		{"healthy", []Part{part("redis", slow)}, "h", said(), Well, 0, 0, 0, 0, true},
		{"healthy, and named", []Part{part("redis", slow)}, "h", said("culprit busy-thread redis"), Well, 0, 0, 0, 1, false},
		{"its healthy run failed", []Part{bad}, "broken", said(), Void, 0, 0, 0, 0, true},
	} {
		healthy, sick := runs(c.parts...)
		k, h := sick, &healthy
		if c.of == "h" {
			k = healthy
		}
		if c.of == "broken" {
			h = &broken
		}
		m, truths, err := begin(k, h)
		if err != nil {
			t.Fatal(err)
		}
		m = m.answered(truths, c.answer)
		if m.Class != c.class || m.AC1 != c.ac1 || m.AC3 != c.ac3 || m.Subject != c.subject || len(m.False) != c.wrong || m.NothingWrong != c.nothing {
			t.Errorf("%s: %+v", c.name, m)
		}
	}
	abstained := said()
	abstained.Abstained = "slow, and nothing tells why"
	healthy, sick := runs(part("redis", slow))
	m, truths, _ := begin(sick, &healthy)
	if m = m.answered(truths, abstained); m.NothingWrong || !m.Abstained {
		t.Errorf("an abstention: %+v", m)
	}
	if m, _, _ := begin(broken, &healthy); m.Class != Broken {
		t.Errorf("a run without a recording: %+v", m)
	}
}

// A noisy family's run is healthy unless its clients noticed the noise, which its quiet run
// tells; that one itself is not judged.
func TestNoise(t *testing.T) {
	quiet := Kept{Key: "000004-x-quiet", Seed: 4, Quiet: true, Parts: []Part{{Family: "x", Origin: Healthy, Figures: fast}}}
	noisy := Kept{Key: "000004-x-healthy", Seed: 4, Parts: []Part{{Family: "x", Origin: Healthy, Figures: slow}}}
	calm := noisy
	calm.Parts = []Part{{Family: "x", Origin: Healthy, Figures: fast}}
	for _, c := range []struct {
		k    Kept
		want Class
	}{{noisy, Loud}, {calm, Well}} {
		without, judged := compared([]Kept{quiet, c.k}, func(Kept) bool { return true })
		if len(judged) != 1 {
			t.Fatalf("%d runs are judged", len(judged))
		}
		m, _, err := begin(c.k, without(c.k))
		if err != nil || m.Class != c.want {
			t.Errorf("%+v, %v: want %s", m, err, c.want)
		}
	}
	family := Family{Name: "x", Origin: Healthy, Noisy: true}
	if all := RunsOf(Case{Seed: 4, Families: []Family{family}}); len(all) != 2 || all[0].Key() != quiet.Key || all[1].Key() != noisy.Key {
		t.Errorf("%+v", all)
	}
}

func TestRows(t *testing.T) {
	marks := []Mark{
		{Class: Incident, Family: "a", AC1: 1, AC3: 1, Subject: 1},
		{Class: Incident, Family: "a", NothingWrong: true},
		{Class: Incident, Family: "b", AC1: 0.5, AC3: 1, False: []string{"x on y"}},
		{Class: Well, Family: "a", False: []string{"x on y", "z"}},
		{Class: Well, Family: "b"}, {Class: Unnoticed, Family: "b"}, {Class: Void, Family: "b"}, {Class: Broken, Family: "b"},
	}
	r := RowOf("all", marks)
	if r.AC1.Of != 3 || r.AC1.Part != 1.5 || r.NothingWrong.Part != 1 || r.FalseBeside.Part != 1 ||
		r.FalseHealthy.Part != 1 || r.FalseHealthy.Of != 2 || r.FalseUnnoticed.Of != 1 || r.Void != 1 || r.Failed != 1 {
		t.Errorf("%+v", r)
	}
	if by := RowsBy(marks, func(m Mark) string { return m.Family }); len(by) != 2 || by[0].AC1.Of != 2 || by[1].AC1.Of != 1 {
		t.Errorf("%+v", by)
	}
}

// Wilson's interval of 81 of 263, by Newcombe (Statistics in Medicine 17, 1998), table I.
func TestInterval(t *testing.T) {
	s := shareOf(81, 263)
	if s.Low < 0.2552 || s.Low > 0.2554 || s.High < 0.3661 || s.High > 0.3663 {
		t.Errorf("%+v", s)
	}
	if s := shareOf(0, 29); s.Low != 0 || s.High < 0.1169 || s.High > 0.1171 {
		t.Errorf("none of 29: %+v", s)
	}
	if s := shareOf(0, 0); s.Value() != 0 || s.String() != "–" {
		t.Errorf("of nothing: %+v", s)
	}
}
