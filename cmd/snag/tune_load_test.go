package main

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"snag/internal/cli"
	"snag/recording"
	"snag/remedies/plan"
)

func TestALoadEndsWithAllThatItStarted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	r, err := startLoad(`sh -c 'sleep 60 & echo $! >` + file + `; wait'`)
	if err != nil {
		t.Fatal(err)
	}
	pid := 0
	for end := time.Now().Add(5 * time.Second); pid == 0 && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		b, _ := os.ReadFile(file)
		pid, _ = strconv.Atoi(strings.TrimSpace(string(b)))
	}
	if note := r.end(); note != "" || pid == 0 {
		t.Errorf("%q, child %d", note, pid)
	}
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		state, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || strings.Contains(string(state), ") Z ") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("process %d of the load goes on", pid)
		}
	}
}

func TestALoadThatEndsEarlyIsTold(t *testing.T) {
	r, err := startLoad(`sh -c 'echo no route to host >&2; exit 3'`)
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(5 * time.Second); len(r.done) == 0 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	if note := r.end(); !strings.Contains(note, "the load ended before its time: exit status 3: no route to host") {
		t.Error(note)
	}
}

func TestALoadIsSeenByNoShell(t *testing.T) {
	file := filepath.Join(t.TempDir(), "made")
	r, err := startLoad("true; touch " + file)
	if err == nil {
		r.end()
		t.Error("it started a program named true;")
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a shell saw it")
	}
	var e *cli.Exit
	if _, err := startLoad("wrk 'http://a"); !errors.As(err, &e) || e.Code != cli.ExitUsage {
		t.Errorf("a quote that is not closed: %v", err)
	}
}

func TestWhatAutoLeavesToAPerson(t *testing.T) {
	p := &plan.Plan{For: plan.Cause{Recording: "/tmp/now"}, Changes: []plan.Change{{ID: "1", Needs: "a restart of relay: an open socket keeps its size"}}}
	if err := checkAuto(p); err == nil || !strings.Contains(err.Error(), "a restart of relay") {
		t.Error(err)
	}
	p.Changes[0].Needs = "LimitNOFILE= in its unit, to last over its restart"
	if err := checkAuto(p); err != nil {
		t.Error(err)
	}
	p.For.Recording = ""
	if err := checkAuto(p); err == nil {
		t.Error("nothing to compare with")
	}
}

func TestHowLongVerifyMeasures(t *testing.T) {
	for _, c := range []struct {
		asked, before, want time.Duration
		plan                string
		need                float64
	}{
		{0, 11 * time.Second, 11 * time.Second, "", 0},
		{0, 11 * time.Second, 30 * time.Second, "30s", 0},
		{8 * time.Second, 11 * time.Second, 8 * time.Second, "30s", 100},
		{0, time.Second, 5 * time.Second, "", 0},
		{0, 30 * time.Second, 95 * time.Second, "30s", 90},
		{0, 5 * time.Minute, 5 * time.Minute, "", 90},
		{0, 30 * time.Second, 30 * time.Second, "30s", 360}, // too long to be waited for unasked: it says so
	} {
		v := verifyFlags{window: c.asked}
		if got := v.length(&plan.Plan{Verify: plan.Check{For: c.plan}}, c.before, c.need); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestATargetThatEndedIsLookedForOnTheMachine(t *testing.T) {
	if got := sameTarget(recording.Target{PID: os.Getpid()}); got.PID != os.Getpid() {
		t.Error("it lives")
	}
	if got := sameTarget(recording.Target{PID: 1 << 30, Port: 80}); got.PID != 0 || got.Port != 80 {
		t.Errorf("%+v", got)
	}
}
