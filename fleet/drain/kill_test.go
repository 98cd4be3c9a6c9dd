package drain

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"snag/fleet/drain/act"
	"snag/fleet/drain/health"
	"snag/fleet/drain/journal"
	"snag/fleet/drain/plan"
)

const childDir = "SNAG_DRAIN_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		os.Exit(child(dir))
	}
	os.Exit(m.Run())
}

// child drains in a process of its own, which kills itself with SIGKILL at its n-th chance: before each command, after
// it, and at each event. A command is a line in a file.
func child(dir string) int {
	n, _ := strconv.Atoi(os.Getenv("KILL_AT"))
	chance := func() {
		if n--; n == 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	p, err := plan.Parse([]byte(four), nil)
	if err != nil {
		return 3
	}
	j, err := journal.Open(filepath.Join(dir, "journal"))
	if err != nil {
		return 4
	}
	g, how := ProgressOf(j.Records), How{Answer: os.Getenv("ANSWER")}
	how.Resume = g.Begun
	if g.May(how, "sum") != nil {
		return 5
	}
	err = New(p, j, g, World{
		Text: act.Text, Poll: time.Millisecond, Say: func(Event) { chance() },
		Do: func(_ context.Context, a plan.Action, _ plan.Phase) error {
			chance()
			f, err := os.OpenFile(filepath.Join(dir, "done"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err == nil {
				_, err = f.WriteString(strings.Join(a.Run, " ") + "\n")
			}
			chance()
			return err
		},
		Count: func(context.Context, plan.Leave) (float64, error) { return 0, nil },
		Ready: func(context.Context, plan.Ready) error { return nil },
		Look:  func(context.Context) health.Seen { return health.Seen{At: time.Now()} },
	}).Run(context.Background(), how, "sum")
	if err != nil {
		return 6
	}
	return 0
}

// killed runs a child, and reports whether it killed itself.
func killed(t *testing.T, dir string, at int, answer string) bool {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+dir, "KILL_AT="+strconv.Itoa(at), "ANSWER="+answer)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		return true
	}
	if err != nil {
		t.Fatalf("kill at %d: %v\n%s", at, err, out)
	}
	return false
}

// Killed at any of its steps, a drain goes on where it was: each command is run once, in the same order. What is not
// known to have ended is asked about, and never run twice in silence.
func TestKilledAtEachStep(t *testing.T) {
	asked, steps := 0, 0
	for at := 1; ; at++ {
		dir := t.TempDir()
		if !killed(t, dir, at, "") {
			break
		}
		steps++
		answer := ""
		text, err := os.ReadFile(filepath.Join(dir, "journal"))
		if err != nil {
			t.Fatal(err)
		}
		records, _, _, err := journal.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		done, _ := os.ReadFile(filepath.Join(dir, "done")) // none yet
		g := ProgressOf(records)
		if g.Unsure != nil {
			asked++
			if err := g.May(How{Resume: true}, "sum"); err == nil || !strings.Contains(err.Error(), "it is not known whether this ended: "+g.Unsure.Peer) {
				t.Fatalf("killed at %d: it goes on without a question: %v", at, err)
			}
			answer = Again
			if bytes.HasSuffix(done, []byte(g.Unsure.Text+"\n")) {
				answer = Skip
			}
		}
		if !g.Finished && killed(t, dir, 0, answer) {
			t.Fatal("killed again")
		}
		done, _ = os.ReadFile(filepath.Join(dir, "done"))
		if got := strings.ReplaceAll(strings.TrimSpace(string(done)), "\n", ", "); got != all {
			t.Fatalf("killed at %d, answer %q: it did\n%s\nand want\n%s", at, answer, got, all)
		}
	}
	if steps < 50 || asked < 30 {
		t.Errorf("%d kills, %d of them in a command", steps, asked)
	}
	t.Logf("%d kills, %d of them in a command", steps, asked)
}

func TestHowADrainMayBegin(t *testing.T) {
	begun := []journal.Record{{Step: journal.Begun, Plan: "sum", At: time.Date(2026, 11, 30, 1, 2, 3, 0, time.UTC)}}
	in := append(begun[:1:1], journal.Record{Step: journal.Will, Peer: "a", Phase: plan.Restart, N: 1, Text: "systemctl restart nginx"})
	done := append(begun[:1:1], journal.Record{Step: journal.Done})
	for name, c := range map[string]struct {
		records []journal.Record
		how     How
		sum     string
		want    string // "": it may
	}{
		"the first time":          {nil, How{}, "sum", ""},
		"to resume nothing":       {nil, How{Resume: true}, "sum", "no drain of this plan was interrupted"},
		"after one that ended":    {done, How{}, "sum", ""},
		"to resume one that has":  {done, How{Resume: true}, "sum", "no drain of this plan was interrupted"},
		"without a word":          {begun, How{}, "sum", "began at 2026-11-30 01:02:03 UTC and was not finished: go on with --resume"},
		"from the start":          {begun, How{StartOver: true}, "other", ""},
		"to resume":               {begun, How{Resume: true}, "sum", ""},
		"another plan":            {begun, How{Resume: true}, "other", "the plan was changed since"},
		"what is not known":       {in, How{Resume: true}, "sum", "a, restart 1: systemctl restart nginx; check a, then add --again to run it again, or --skip"},
		"an answer":               {in, How{Resume: true, Answer: Skip}, "sum", ""},
		"an answer to nothing":    {begun, How{Resume: true, Answer: Again}, "sum", "--again: every action that was begun is known to have ended"},
		"an answer without --res": {nil, How{Answer: Again}, "sum", "give it with --resume"},
	} {
		err := ProgressOf(c.records).May(c.how, c.sum)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The hosts as they were before the batch are in the journal: what it did to them before a kill is harm.
func TestHarmBeforeAKillIsSeenAfterIt(t *testing.T) {
	w := newWorld(t, four)
	j, err := journal.Open(w.path)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []journal.Record{
		{Step: journal.Begun, Plan: "sum"}, {Step: journal.Batch, N: 1, Base: health.Baseline{"web": {}}},
		{Step: journal.Will, Peer: "a", Phase: plan.Drain, N: 1}, {Step: journal.Did, Peer: "a", Phase: plan.Drain, N: 1},
		{Step: journal.Will, Peer: "a", Phase: plan.Restart, N: 1}, {Step: journal.Did, Peer: "a", Phase: plan.Restart, N: 1},
		{Step: journal.Will, Peer: "a", Phase: plan.Restart, N: 2}, {Step: journal.Did, Peer: "a", Phase: plan.Restart, N: 2},
		{Step: journal.Will, Peer: "a", Phase: plan.Return, N: 1}, {Step: journal.Did, Peer: "a", Phase: plan.Return, N: 1},
		{Step: journal.Back, Peer: "a"},
	} {
		if err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	_ = j.Close()
	w.look = func() health.Seen { return health.Seen{Fleet: health.Baseline{"web": {Affected: true}}} }
	s := w.drain(t.Context(), How{Resume: true})
	if !strings.Contains(s.describe(), "hurts batch 1  : host web is affected; out [], left [b c d]") {
		t.Error(s.describe())
	}
	w.want("")
}
