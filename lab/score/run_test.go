package score

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snag/lab"
	"snag/recording/rectest"
)

// bench makes runs that take a minute each of a clock of its own.
type bench struct {
	made  []string
	clock time.Time
	fails map[string]error
	after func()
}

func (b *bench) runs(t *testing.T, folder Folder, budget time.Duration) Runs {
	written := filepath.Join(t.TempDir(), "written")
	file := filepath.Join(t.TempDir(), "case.txtar")
	if err := os.WriteFile(file, []byte("-- manifest --\n{\"seconds\": 3}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := rectest.Write(file, written); err != nil {
		t.Fatal(err)
	}
	return Runs{
		Folder: folder, For: 50 * time.Second, Budget: budget, Progress: io.Discard, OnlyTheirs: true,
		Now: func() time.Time { return b.clock },
		Make: func(_ context.Context, c Case, out string) (lab.Result, error) {
			b.made = append(b.made, c.Key())
			b.clock = b.clock.Add(time.Minute)
			if b.after != nil {
				b.after()
			}
			if err := b.fails[c.Key()]; err != nil {
				return lab.Result{}, err
			}
			return lab.Result{Outcome: lab.Right, Seconds: 60, FindSeconds: 52, Namespaces: map[uint64]bool{9: true, 4: true}}, os.CopyFS(out, os.DirFS(written))
		},
	}
}

func (b *bench) done() string {
	out := strings.Join(b.made, " ")
	b.made = nil
	return out
}

func TestRunsGoOnWhereTheyStopped(t *testing.T) {
	folder := Folder(filepath.Join(t.TempDir(), "score"))
	cases := Plan([]lab.Incident{qdisc, closed}, [][]lab.Incident{{qdisc, closed}}, []lab.Level{lab.Plain})
	broken := errors.New("no such tool")
	b := &bench{fails: map[string]error{"udp-port-closed-sick": broken}}
	// Room for three runs of a minute.
	left, err := b.runs(t, folder, 3*time.Minute).All(context.Background(), cases)
	if err != nil || len(left) != 4 {
		t.Fatalf("%d left, %v", len(left), err)
	}
	if got := b.done(); got != "qdisc-drop-sick udp-port-closed-sick qdisc-drop-healthy" {
		t.Errorf("made %s", got)
	}
	// The failed one is tried again, and what is there is not made again.
	b.fails = nil
	if _, err := b.runs(t, folder, 0).All(context.Background(), cases); err != nil {
		t.Fatal(err)
	}
	if got := b.done(); got != "udp-port-closed-sick udp-port-closed-healthy qdisc-drop-distractor udp-port-closed-distractor qdisc-drop+udp-port-closed-sick" {
		t.Errorf("made %s", got)
	}
	if _, err := b.runs(t, folder, 0).All(context.Background(), cases); err != nil || b.done() != "" {
		t.Errorf("all was there: %v, %v", b.made, err)
	}
	k, r, err := folder.Load("qdisc-drop-sick")
	if err != nil || r == nil || k.FindSeconds != 52 || len(k.Here()) != 2 || !k.Here()[9] {
		t.Errorf("kept %+v, %v", k, err)
	}
}

func TestRunsKeepFailures(t *testing.T) {
	folder := Folder(t.TempDir())
	cases := Plan([]lab.Incident{qdisc}, nil, []lab.Level{lab.Plain})[:1]
	b := &bench{fails: map[string]error{"qdisc-drop-sick": errors.New("no such tool")}}
	if _, err := b.runs(t, folder, 0).All(context.Background(), cases); err != nil {
		t.Fatal(err)
	}
	sheets, missing, err := Evaluate(folder, cases, []Judge{{Name: "j"}})
	if err != nil || missing != 0 || sheets[0].All.Failed != 1 || sheets[0].All.Runs != 1 {
		t.Errorf("sheets %+v, missing %d, %v", sheets, missing, err)
	}
	if m := sheets[0].Marks[0]; m.Why != "no such tool" {
		t.Errorf("mark %+v", m)
	}
}

// A run that was called off is nobody's failure: it leaves nothing behind.
func TestRunsCalledOff(t *testing.T) {
	folder := Folder(t.TempDir())
	cases := Plan([]lab.Incident{qdisc}, nil, []lab.Level{lab.Plain})
	ctx, cancel := context.WithCancel(context.Background())
	b := &bench{after: cancel}
	if left, err := b.runs(t, folder, 0).All(ctx, cases); !errors.Is(err, context.Canceled) || len(left) != 3 {
		t.Errorf("%d left, %v", len(left), err)
	}
	if folder.Has("qdisc-drop-sick") {
		t.Error("a run that was called off counts as made")
	}
}

func TestPlanOrder(t *testing.T) {
	var keys []string
	for _, c := range Repeat(Plan([]lab.Incident{qdisc}, [][]lab.Incident{{qdisc, closed}}, lab.Levels), 2) {
		keys = append(keys, c.Key())
	}
	want := "qdisc-drop-sick qdisc-drop-healthy qdisc-drop-distractor qdisc-drop+udp-port-closed-sick qdisc-drop-sick-barely qdisc-drop-sick-severe " +
		"qdisc-drop-sick-2 qdisc-drop-healthy-2 qdisc-drop-distractor-2 qdisc-drop+udp-port-closed-sick-2 qdisc-drop-sick-barely-2 qdisc-drop-sick-severe-2"
	if got := strings.Join(keys, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestEstimate(t *testing.T) {
	folder := Folder(t.TempDir())
	cases := Plan([]lab.Incident{qdisc, closed}, nil, []lab.Level{lab.Plain})
	r := Runs{Folder: folder, For: 10 * time.Second}
	if got := r.Estimate(cases, cases[:2]); got != 28*time.Second {
		t.Errorf("nothing known: %v, want 2 × (10 + 4) s", got)
	}
	if err := folder.Keep("", Kept{Key: cases[0].Key(), For: 10, Seconds: 30, Error: "x"}); err != nil {
		t.Fatal(err)
	}
	if got := r.Estimate(cases, cases[:2]); got != 28*time.Second {
		t.Errorf("a failed run tells nothing: %v", got)
	}
	b := &bench{}
	runs := b.runs(t, folder, 0) // a run of qdisc-drop took 10 s besides its 50
	if err := runs.One(context.Background(), cases[0]); err != nil {
		t.Fatal(err)
	}
	if got := r.Estimate(cases, cases[1:2]); got != 20*time.Second {
		t.Errorf("another incident takes the mean of all: %v, want 20 s", got)
	}
}
