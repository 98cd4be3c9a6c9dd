package drawn

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"snag/lab"
	"snag/lab/clientlog"
	"snag/lab/referee"
	"snag/lab/score"
	"snag/recording"
)

// treatedRun is a faulty run of one family or more, with the figures after a command.
func treatedRun(r Remedy, after ...referee.Figures) (healthy, sick Kept) {
	var parts []Part
	for i, f := range after {
		p := part([]string{"redis", "nginx"}[i], slow)
		p.Truth.Lasting, p.Truth.Spans = Throughout, []Span{{0, 8}}
		parts = append(parts, p)
		r.Clients = append(r.Clients, Treated{After: f})
	}
	healthy, sick = runs(parts...)
	sick.Remedy = &r
	return healthy, sick
}

var slower = referee.Figures{Requests: 1000, P50: 0.250, P99: 0.300}

func TestHealed(t *testing.T) {
	const command = "kill -CONT 7"
	right := Remedy{Suspect: "busy-thread", Subject: "redis-server:6379", Command: command}
	also := Remedy{Suspect: "cpu-saturated", Subject: "batch", Command: command}
	innocent := Remedy{Suspect: "busy-thread", Subject: "nginx", Command: command}
	change := func(r Remedy, do func(*Remedy)) Remedy {
		do(&r)
		return r
	}
	for _, c := range []struct {
		name          string
		remedy        Remedy
		after         []referee.Figures
		right, healed bool
		wrong         string // a part of what is said of it, "" for nothing
	}{
		{"healed", right, []referee.Figures{fast}, true, true, ""},
		{"healed by what is true beside", also, []referee.Figures{fast}, true, true, ""},
		{"healed by a wrong accusation", innocent, []referee.Figures{fast}, false, true, ""},
		{"not healed", right, []referee.Figures{slow}, true, false, "removed 0 % of the harm"},
		{"made worse", right, []referee.Figures{slower}, true, false, "made worse: p50 250.0 ms, 50.0 ms before"},
		{"failed", change(right, func(r *Remedy) { r.Exit, r.Output = 2, "no\nsuch" }), []referee.Figures{fast}, true, false, "failed with exit code 2: no such"},
		{"not run", change(right, func(r *Remedy) { r.NotRun = "it changes the host" }), nil, true, false, "was not run: it changes the host"},
		{"no command", change(right, func(r *Remedy) { r.Command = "" }), nil, true, false, ""},
		{"nobody named", Remedy{}, nil, false, false, ""},
		{"of two faults its own", right, []referee.Figures{fast, slow}, true, true, ""},
		{"its own, and the other is worse by itself", right, []referee.Figures{fast, slower}, true, true, ""},
		{"of two faults none of them", change(innocent, func(r *Remedy) { r.Subject = "x" }), []referee.Figures{fast, slow}, false, false, "removed 0 %"},
	} {
		after := c.after
		if after == nil {
			after = []referee.Figures{fast}
		}
		healthy, sick := treatedRun(c.remedy, after...)
		if c.after == nil {
			sick.Remedy.Clients = nil
		}
		h, err := healedOf(sick, &healthy, nil)
		if err != nil || h == nil {
			t.Fatalf("%s: %v, %v", c.name, h, err)
		}
		if h.Right != c.right && c.remedy.Suspect != "" || h.healed() != c.healed || (h.wrong() == "") != (c.wrong == "") || !strings.Contains(h.wrong(), c.wrong) {
			t.Errorf("%s: %+v: %s", c.name, h, h.wrong())
		}
		if told := sick.Remedy.Told(sick, &healthy); told == "" {
			t.Errorf("%s: nothing is shown", c.name)
		}
	}
}

// An accusation is right, too, where its fault comes in episodes, and the other goes on: then there
// is nothing to measure.
func TestRightAboutAFaultThatDoesNotGoOn(t *testing.T) {
	healthy, sick := treatedRun(Remedy{Suspect: "busy-thread", Subject: "redis", Command: "x"}, fast, slower)
	sick.Parts[0].Truth.Lasting = Episodes
	if h, err := healedOf(sick, &healthy, nil); err != nil || !h.Right || h.Harm || h.Worse != "" {
		t.Errorf("%+v, %v", h, err)
	}
}

// Of a fault that began inside the window, the figures of the stretch from then on count.
func TestHealedOfAFaultThatBegan(t *testing.T) {
	healthy, sick := treatedRun(Remedy{Suspect: "busy-thread", Subject: "redis", Command: "x"}, slow)
	truth := sick.Parts[0].Truth
	truth.Lasting, truth.Spans = Begins, []Span{{4, 8}}
	before := slow
	before.P50 = 0.45 // of the stretch with the fault: what is 50 ms then is better
	sick.Remedy.Clients[0].Before = &before
	h, err := healedOf(sick, &healthy, nil)
	if err != nil || h.Removed < 0.9 || h.Removed > 0.92 && h.Left == "" {
		t.Errorf("%+v, %v", h, err)
	}
}

// A fault that does more harm the longer it lasts is not the command's doing: the control says
// what clients measure at that time without it.
func TestControl(t *testing.T) {
	healthy, sick := treatedRun(Remedy{Suspect: "busy-thread", Subject: "redis", Command: "x"}, slower)
	_, control := treatedRun(Remedy{Withheld: true}, slower)
	_, calm := treatedRun(Remedy{Withheld: true}, slow)
	sick.Key, control.Key = "000004-redis-faulty", "000004-redis-untreated"
	for _, c := range []struct {
		control *Kept
		worse   bool
	}{{nil, true}, {&calm, true}, {&control, false}} {
		h, err := healedOf(sick, &healthy, c.control)
		if err != nil || (h.Worse != "") != c.worse || h.Removed != 0 {
			t.Errorf("%+v, %v", h, err)
		}
	}
	without, judged := compared([]Kept{healthy, sick, control}, func(Kept) bool { return true })
	if len(judged) != 2 || without(sick) == nil || untreatedOf([]Kept{healthy, sick, control})[pairKey(sick)] == nil {
		t.Errorf("%d runs are judged", len(judged))
	}
	if h, err := healedOf(control, &healthy, nil); h != nil || err != nil {
		t.Errorf("the control has a command: %+v, %v", h, err)
	}
}

func TestWhichRunsWantAControl(t *testing.T) {
	c := Case{Seed: 4, Families: []Family{{Name: "redis", Faults: []Fault{{Name: "slow-command"}}}}, Faulty: true}
	if c.Key() == c.untreated().Key() {
		t.Fatal("a control has the key of its run")
	}
	for after, want := range map[string]bool{"worse": true, "healed": false} {
		figures := fast
		if after == "worse" {
			figures = slower
		}
		f, dir := Folder(t.TempDir()), emptyRecording(t)
		healthy, sick := treatedRun(Remedy{Suspect: "busy-thread", Subject: "redis", Command: "x"}, figures)
		healthy.Key, sick.Key = "000004-redis-healthy", "000004-redis-faulty"
		for _, k := range []Kept{healthy, sick} {
			if err := f.Keep(dir, k); err != nil {
				t.Fatal(err)
			}
		}
		r := Runs{Folder: f}
		if r.wantsControl(c.untreated()) {
			t.Error("a control without --remedies")
		}
		if r.Options.Remedies = true; r.wantsControl(c.untreated()) != want {
			t.Errorf("%s: a control is wanted: %v", after, !want)
		}
	}
}

func TestTreated(t *testing.T) {
	t0 := time.Unix(1_800_000_000, 0)
	at := func(s float64) time.Time { return t0.Add(seconds(s)) }
	slowFrom := func(from, to float64) (l clientlog.Log) {
		for n := range 300 {
			s := float64(n) / 10
			length := 10 * time.Millisecond
			if s >= from && s < to {
				length = 50 * time.Millisecond
			}
			l.Requests = append(l.Requests, clientlog.Request{Start: at(s), Length: length, Outcome: clientlog.OK})
		}
		return l
	}
	logs := []clientlog.Log{slowFrom(4, 14.05)}
	first, second := referee.Window{From: at(0), To: at(10)}, referee.Window{From: at(12), To: at(22)}
	p := part("redis", slow)
	p.Truth.Lasting, p.Truth.Spans = Throughout, []Span{{0, 10}}
	if got := treated(p, first, logs, second, logs); got.Before != nil || got.After.Requests != 100 || got.After.P50 != 0.01 {
		t.Errorf("throughout: %+v", got)
	}
	p.Truth.Lasting, p.Truth.Spans = Begins, []Span{{7, 10}}
	if got := treated(p, first, logs, second, logs); got.Before == nil || got.Before.Requests != 30 || got.Before.P50 != 0.05 || got.After.Requests != 30 || got.After.P50 != 0.05 {
		t.Errorf("from 7 s on: %+v", got)
	}
}

func TestWhichFaultsGoOn(t *testing.T) {
	for _, c := range []struct {
		truth *Truth
		want  bool
	}{
		{nil, false},
		{&Truth{Lasting: Throughout, Spans: []Span{{0, 8}}}, true},
		{&Truth{Lasting: Begins, Spans: []Span{{3, 8}}}, true},
		{&Truth{Lasting: Begins}, false}, // find ended before it began
		{&Truth{Lasting: Ends, Spans: []Span{{0, 4}}}, false},
		{&Truth{Lasting: Episodes, Spans: []Span{{0, 4}, {6, 8}}}, false},
	} {
		if c.truth.goesOn() != c.want {
			t.Errorf("%+v", c.truth)
		}
	}
}

func TestRemediesOf(t *testing.T) {
	mark := func(c Class, h *Healed) Mark { return Mark{Class: c, Healed: h, Key: "k", Subject: 1} }
	h := func(right bool, removed float64, worse string) *Healed {
		return &Healed{Suspect: "fd-limit", Command: "x", Right: right, Healed: referee.Healed{Harm: true, Removed: removed, Worse: worse}}
	}
	marks := []Mark{
		mark(Incident, h(true, 1, "")), mark(Incident, h(true, 0.8, "")), mark(Incident, h(true, 0.79, "")), mark(Incident, h(true, 1, "p50")),
		mark(Incident, h(false, 0, "")), mark(Incident, &Healed{}), mark(Incident, &Healed{Suspect: "no-route"}),
		mark(Incident, &Healed{Command: "x", Exit: 1}), mark(Incident, &Healed{Command: "x", NotRun: "host"}),
		mark(Incident, &Healed{Command: "x", Right: true}), // nothing noticed of the fault that it is for
		mark(Unnoticed, &Healed{Command: "x", Healed: referee.Healed{Worse: "p99"}}),
		mark(Incident, nil), mark(Well, nil),
	}
	r := RemediesOf(marks)
	if r.Asked != 11 || r.Commands.Part != 8 || r.Commands.Of != 10 || r.Right.Part != 2 || r.Right.Of != 4 || r.Wrong.Part != 0 || r.Wrong.Of != 1 ||
		r.Worse.Part != 2 || r.Worse.Of != 7 || r.Failed.Part != 1 || r.Failed.Of != 8 || r.NotRun != 1 || r.Unmeasured != 1 {
		t.Errorf("%+v", r)
	}
	var page strings.Builder
	if err := (Report{Judges: []Judged{{"snag", marks}, {"thresholds", nil}}}).Markdown(&page, true); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"removed 80 % of the harm and more", "0.50 (0.15–0.85) of 4", "### Commands for now, by suspect", "| fd-limit |",
		"- `k`: `x` (fd-limit) removed 79 % of the harm", "made worse: p50",
	} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("%q is not in the page:\n%s", want, page.String())
		}
	}
}

// What was kept before there were commands, and what is kept without --remedies, is as it was,
// and so is its score.
func TestWithoutRemedies(t *testing.T) {
	old := `{"key":"000004-redis-faulty","seed":4,"faulty":true,"made":"2026-11-22T10:00:00Z","machine":{},"commit":"c","for_seconds":8,"seconds":20,
		"parts":[{"family":"redis","kind":"cache","origin":"real","values":{},"truth":{"fault":"slow-command","suspects":["busy-thread"],"subject":"redis","account":"work","lasting":"throughout","spans":[{"from":0,"to":8}]},
		"clients":{"requests":1000,"p50_seconds":0.05,"p99_seconds":0.09}}]}`
	var k Kept
	if err := json.Unmarshal([]byte(old), &k); err != nil {
		t.Fatal(err)
	}
	if k.Remedy != nil || k.Parts[0].Figures.P50 != 0.05 {
		t.Errorf("%+v", k)
	}
	raw, err := json.Marshal(k)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		t.Fatal(err)
	}
	var names []string
	for n := range fields {
		names = append(names, n)
	}
	slices.Sort(names)
	if want := []string{"commit", "faulty", "for_seconds", "key", "machine", "made", "parts", "seconds", "seed"}; !slices.Equal(names, want) {
		t.Errorf("kept are %q, not %q", names, want)
	}
	healthy, sick := runs(part("redis", slow))
	if h, err := healedOf(sick, &healthy, nil); h != nil || err != nil {
		t.Errorf("%+v, %v", h, err)
	}
	var page strings.Builder
	if err := (Report{Judges: []Judged{{"snag", []Mark{{Class: Incident, Key: "f"}}}}}).Markdown(&page, true); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(page.String(), "command,") || strings.Contains(page.String(), "Commands") {
		t.Error(page.String())
	}
}

// Only snag's own mark has what its command did, and that comes back from the folder.
func TestJudgeHealed(t *testing.T) {
	f, dir := Folder(t.TempDir()), emptyRecording(t)
	healthy, sick := treatedRun(Remedy{Suspect: "busy-thread", Subject: "redis", Ref: `{"pid":7}`, Command: "x", Seconds: 0.1, Output: "done"}, fast)
	for _, k := range []Kept{healthy, sick} {
		if err := f.Keep(dir, k); err != nil {
			t.Fatal(err)
		}
	}
	says := func(confident bool) score.Judge {
		return score.Judge{Confident: confident, Answer: func(*recording.Recording) (lab.Answer, error) { return said("culprit busy-thread redis"), nil }}
	}
	marks, err := Judging{Folder: f, Judges: []score.Judge{says(true), says(false)}, Keep: func(k Kept) bool { return k.Faulty }}.Marks()
	if err != nil {
		t.Fatal(err)
	}
	if h := marks[0][0].Healed; h == nil || !h.Right || !h.healed() || h.Output != "done" {
		t.Errorf("%+v", h)
	}
	if marks[1][0].Healed != nil {
		t.Error("the plain alarms have a command")
	}
}

// Both runs of a draw say the same beforehand as its schedule does afterwards.
func TestOngoing(t *testing.T) {
	f := Family{Name: "x", Faults: []Fault{{Name: "a"}, {Name: "b"}}}
	n := map[Lasting]int{}
	for seed := uint64(2); seed < 402; seed += 2 {
		c := Case{Seed: seed, Families: []Family{f}}
		b, err := NewBench(nil, f, NewDraw(seed, f.Name), "", true)
		if err != nil {
			t.Fatal(err)
		}
		lasting, spans := scheduleOf(b.Draw, b.Fault, 8)
		n[lasting]++
		if (&Truth{Lasting: lasting, Spans: spans}).goesOn() != c.Ongoing() {
			t.Errorf("seed %d, %s: ongoing is %v", seed, lasting, c.Ongoing())
		}
	}
	if n[Throughout] == 0 || n[Begins] == 0 || n[Ends] == 0 || n[Episodes] == 0 {
		t.Errorf("%v", n)
	}
	if (Case{Seed: 2, Families: []Family{{Name: "well"}}}).Ongoing() {
		t.Error("a healthy family has a fault that goes on")
	}
}
