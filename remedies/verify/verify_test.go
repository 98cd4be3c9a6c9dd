package verify

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"snag/recording"
	"snag/verdict"
)

// judged opens and judges a recording of the lab.
func judged(t testing.TB, name string) *verdict.Verdict {
	t.Helper()
	r, err := recording.Open(filepath.Join("../../lab/recordings", name+".snag"))
	if err != nil {
		t.Fatal(err)
	}
	return verdict.Judge(r)
}

// healable are the incidents whose healthy twin has the fault taken away and nothing
// else, as the lab's remedies do: their symptom is gone there.
var healable = []string{
	"conntrack-full", "cpu-throttled", "fd-limit", "fq-flow-limit", "listen-overflow", "nagle-delayed-ack", "neighbour-failed",
	"pmtu-blackhole", "qdisc-drop", "reverse-path-filter", "udp-receive-buffer-full",
}

// The lab's own recordings of each incident: its healthy twin is what a remedy makes of
// it; itself is what one that does nothing leaves.
func TestTheLabsRecordings(t *testing.T) {
	files, err := filepath.Glob("../../lab/recordings/*-sick.snag")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	seen := 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), "-sick.snag")
		if _, err := os.Stat("../../lab/recordings/" + name + "-healthy.snag"); err != nil {
			continue
		}
		sick := judged(t, name+"-sick")
		culprits := sick.With(verdict.Culprit)
		if len(culprits) == 0 {
			continue
		}
		e := culprits[0]
		if got := Compare(sick, sick, e, ""); got.Outcome != Unchanged || got.Load != nil && got.Load.Ratio != 1 {
			t.Errorf("%s with itself: %s (%s)\n%+v", name, got.Outcome, got.Why, got)
		}
		// The lab's faults are there all the time, for longer than its short recordings: as
		// someone would say who saw it come.
		known := *sick
		r := *sick.Recording
		r.Manifest.Since = r.Manifest.Start.Add(-time.Minute)
		known.Recording = &r
		got := Compare(&known, judged(t, name+"-healthy"), e, "")
		t.Logf("%-24s %-10s %s; %v felt %.3g → %.3g %s, load %+v", name, got.Outcome, got.Why, got.Notes, got.Felt.Before, got.Felt.After, got.Felt.Unit, got.Load)
		heals := slices.Contains(healable, name)
		if heals {
			seen++
		}
		switch {
		case got.Outcome == Worse || got.Outcome == Unchanged, heals && !gone(got):
			t.Errorf("%s, healed: %s (%s)\n%+v", name, got.Outcome, got.Why, got)
		case heals && got.Load == nil:
			t.Errorf("%s: no load beside it", name)
		}
		if long := ofMinutes(&known, judged(t, name+"-healthy"), e); heals && long.Outcome != Gone {
			t.Errorf("%s, healed, for minutes: %s (%s)\n%+v", name, long.Outcome, long.Why, long)
		}
	}
	if seen != len(healable) {
		t.Errorf("%d of %d recordings", seen, len(healable))
	}
}

// ofMinutes is what Compare would say of longer recordings, in which the same seconds come
// again and again: those of the lab are of some seconds, which tell too little.
func ofMinutes(before, after *verdict.Verdict, e verdict.Entry) Result {
	again := func(s seconds, length int) seconds {
		for one := s.bad; len(s.bad) < length; {
			s.bad = append(slices.Clip(s.bad), one...)
		}
		return s
	}
	res := Compare(before, after, e, "")
	now, _, _ := counterpart(before, after, e.Subject)
	k := around(before.Recording, after.Recording)
	felt := feltOf(e, before, "")
	res.Felt = compare(again(felt.in(before, e.Subject), 60), again(felt.in(after, now), 120), k)
	if o, ok := owns[e.Suspect.Name]; ok && res.Cause != nil {
		own := compare(again(o.in(before.Recording, e.Subject), 60), again(o.in(after.Recording, now), 120), k)
		res.Cause = &own
	}
	res.Outcome, res.Why = together(res)
	return res
}

// gone tells whether nothing of it is left, as far as a short recording can tell: a
// quiet time is still to be waited for.
func gone(r Result) bool {
	none := r.Felt.After.Value <= 0.05*r.Felt.Before.Value && (r.Cause == nil || r.Cause.After.Value <= 0.05*r.Cause.Before.Value)
	return r.Outcome == Gone || r.Outcome == TooEarly && none
}

// cut takes a measure out of a recording, as a kernel without the probe does.
func cut(v *verdict.Verdict, measure string) *verdict.Verdict {
	r := *v.Recording
	r.Coverage = append([]recording.Coverage{{Probe: measure, State: recording.CoverageUnavailable, Why: "a test took it"}}, r.Coverage...)
	return verdict.Judge(&r)
}

func TestWhatWasNotMeasuredIsNotGone(t *testing.T) {
	sick, healthy := judged(t, "nagle-delayed-ack-sick"), judged(t, "nagle-delayed-ack-healthy")
	e := sick.With(verdict.Culprit)[0]
	got := Compare(sick, cut(healthy, "sockets.holds"), e, "")
	if got.Outcome != CantTell || !strings.Contains(got.Why, "sockets.holds was not measured this time: a test took it") {
		t.Errorf("%s: %s", got.Outcome, got.Why)
	}
}

// The healthy twin of softnet-backlog sends bursts of 100 packets in place of 6,000.
func TestLessLoadIsNoRemedy(t *testing.T) {
	sick := judged(t, "softnet-backlog-sick")
	got := Compare(sick, judged(t, "softnet-backlog-healthy"), sick.With(verdict.Culprit)[0], "")
	if got.Outcome != CantTell || !strings.Contains(got.Why, "the load differed") || got.Load.Ratio > 0.1 {
		t.Errorf("%s: %s %+v", got.Outcome, got.Why, got.Load)
	}
}

func TestWhoIsNotThereIsNotHealed(t *testing.T) {
	sick, other := judged(t, "fd-limit-sick"), judged(t, "udp-receive-buffer-full-healthy")
	got := Compare(sick, other, sick.With(verdict.Culprit)[0], "")
	if got.Outcome != CantTell || !strings.Contains(got.Why, "is not in the new recording") {
		t.Errorf("%s: %s", got.Outcome, got.Why)
	}
}

func TestPick(t *testing.T) {
	sick := judged(t, "fd-limit-sick")
	e := sick.With(verdict.Culprit)[0]
	if got, ok := Pick(sick, e.Suspect.Name, e.Subject.Name); !ok || got.ID != e.ID {
		t.Errorf("%v %v", ok, got.ID)
	}
	if _, ok := Pick(sick, "qdisc-drop", ""); ok {
		t.Error("picked a suspect that is not a culprit")
	}
}

func TestOneWordForSymptomCauseAndLoad(t *testing.T) {
	is := func(o Outcome) Compared { return Compared{What: "x", Outcome: o} }
	cause := func(o Outcome) *Compared { c := is(o); return &c }
	load := func(ratio float64) *Load {
		return &Load{Unit: "requests/s", Before: 100, After: 100 * ratio, Ratio: ratio}
	}
	for name, c := range map[string]struct {
		r    Result
		want Outcome
		why  string
	}{
		"both gone":                         {Result{Felt: is(Gone), Cause: cause(Gone), Load: load(1)}, Gone, ""},
		"gone at a tenth of the load":       {Result{Felt: is(Gone), Cause: cause(Gone), Load: load(0.1)}, CantTell, "the load differed: 10 requests/s now, 100 before"},
		"gone at twice the load":            {Result{Felt: is(Gone), Cause: cause(Gone), Load: load(2)}, Gone, ""},
		"reduced at half of the load":       {Result{Felt: is(Reduced), Load: load(0.5)}, CantTell, "the load differed"},
		"worse at twice the load":           {Result{Felt: is(Worse), Load: load(2)}, CantTell, "the load differed"},
		"worse at the same":                 {Result{Felt: is(Worse), Load: load(1)}, Worse, ""},
		"unchanged whatever the load":       {Result{Felt: is(Unchanged), Load: load(0.1)}, Unchanged, ""},
		"felt no more, counter as before":   {Result{Felt: is(Gone), Cause: cause(Unchanged), Load: load(1)}, Unchanged, "its cause goes on as before"},
		"felt no more, counter got worse":   {Result{Felt: is(Reduced), Cause: cause(Worse), Load: load(1)}, Unchanged, "its cause goes on as before"},
		"felt no more, counter less":        {Result{Felt: is(Gone), Cause: cause(Reduced), Load: load(1)}, Reduced, "its cause is not gone"},
		"felt no more, nothing to be told":  {Result{Felt: is(Gone), Cause: cause(CantTell), Load: load(1)}, CantTell, "can't be judged"},
		"felt as before without its cause":  {Result{Felt: is(Unchanged), Cause: cause(Gone), Load: load(1)}, Unchanged, ""},
		"felt comes and goes, counter not":  {Result{Felt: is(CantTell), Cause: cause(Unchanged), Load: load(1)}, Unchanged, "the cause's counter"},
		"felt comes and goes, counter 0":    {Result{Felt: is(CantTell), Cause: cause(Gone), Load: load(1)}, CantTell, ""},
		"felt seldom, counter 0":            {Result{Felt: Compared{Outcome: CantTell, Before: Figure{Value: 1}}, Cause: cause(Gone), Load: load(1)}, Gone, "the symptom came now and then only"},
		"felt seldom, counter as before":    {Result{Felt: Compared{Outcome: CantTell, Before: Figure{Value: 1}}, Cause: cause(Unchanged), Load: load(1)}, Unchanged, "the cause's counter"},
		"felt no more, counter seldom":      {Result{Felt: is(Gone), Cause: &Compared{Outcome: TooEarly, Why: "it came every 40 s", Before: Figure{Value: 1}}, Load: load(1)}, TooEarly, "it came every 40 s"},
		"too early of both":                 {Result{Felt: Compared{Outcome: TooEarly, Why: "felt", Need: 100, Before: Figure{Value: 1}}, Cause: &Compared{Outcome: TooEarly, Why: "cause", Need: 60}, Load: load(1)}, TooEarly, "cause"},
		"too early, the counter's few":      {Result{Felt: Compared{Outcome: TooEarly, Why: "felt", Need: 100, Before: Figure{Value: 1}}, Cause: &Compared{Outcome: TooEarly, Why: "cause", Need: 60, sparse: true}, Load: load(1)}, TooEarly, "felt"},
		"too early, the counter more so":    {Result{Felt: Compared{Outcome: TooEarly, Why: "felt", Need: 60, Before: Figure{Value: 1}}, Cause: &Compared{Outcome: TooEarly, Why: "cause", Need: 100}, Load: load(1)}, TooEarly, "cause"},
		"gone, the counter's few too early": {Result{Felt: is(Gone), Cause: &Compared{Outcome: TooEarly, sparse: true}, Load: load(1)}, Gone, ""},
		"gone, the counter sank anyway":     {Result{Felt: is(Gone), Cause: &Compared{Outcome: CantTell, backsOff: true}, Load: load(1)}, Gone, ""},
		"some left of what sank anyway":     {Result{Felt: is(Gone), Cause: &Compared{Outcome: CantTell, After: Figure{Value: 1}, backsOff: true}, Load: load(1)}, CantTell, "can't be judged"},
		"too early at a tenth of the load":  {Result{Felt: is(TooEarly), Load: load(0.1)}, CantTell, "the load differed"},
		"too early, the counter as before":  {Result{Felt: Compared{Outcome: TooEarly, Before: Figure{Value: 1}}, Cause: cause(Unchanged), Load: load(1)}, Unchanged, "the cause's counter"},
		"gone, the load not measured":       {Result{Felt: is(Gone)}, Gone, "the load beside it was not measured"},
	} {
		if got, why := together(c.r); got != c.want || !strings.Contains(why, c.why) {
			t.Errorf("%s: %s (%s), want %s (%s)", name, got, why, c.want, c.why)
		}
	}
}
