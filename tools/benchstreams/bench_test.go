package main

import (
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestNumbers(t *testing.T) {
	if all, err := numbers("1, 10 300"); err != nil || !slices.Equal(all, []int{1, 10, 300}) {
		t.Errorf("%v, %v", all, err)
	}
	for _, bad := range []string{"", " ", "0", "-1", "2001", "1,x", "1.5"} {
		if all, err := numbers(bad); err == nil {
			t.Errorf("%q: %v", bad, all)
		}
	}
}

func TestURLsAreNoTwoTheSame(t *testing.T) {
	o := origin{published: 20}
	all := o.urls(300)
	if n := len(slices.Compact(slices.Sorted(slices.Values(all)))); n != 300 {
		t.Errorf("%d of 300", n)
	}
	if all[0] != "rtmp://127.0.0.1:1935/live/cam000" || all[21] != "rtmp://127.0.0.1:1935/live/cam001?reader=1" {
		t.Errorf("%s, %s", all[0], all[21])
	}
}

// What a child of a reader uses is the reader's.
func TestUseIsWithChildren(t *testing.T) {
	cmd := exec.Command("sh", "-c", "timeout 30 sh -c 'while :; do :; done' & wait")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // its children, too
		_ = cmd.Wait()
	}()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		u, err := useOf(cmd.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		if u.cpu > 300*time.Millisecond && u.resident > 0.5 && u.peak >= u.resident {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%+v", u)
		}
	}
	ended := exec.Command("true")
	if err := ended.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ended.Wait() }()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, err := useOf(ended.Process.Pid); err != nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("one that has ended is measured")
		}
	}
	if _, err := useOf(1 << 29); err == nil {
		t.Error("a process that is none has used something")
	}
}

func TestLineHasRatiosOfAStream(t *testing.T) {
	snag := row{name: "snag", streams: 100, start: 400 * time.Millisecond, steady: 0.05, used: use{resident: 20, private: 10, peak: 30}}
	peer := row{name: "peer", streams: 2, start: 200 * time.Millisecond, steady: 0.01, first: 2400 * time.Millisecond}
	// 4 ms per stream to start, 0.05 % of a core; the peer 100 ms and 0.5 %. Over 10 s 9 and 150 ms.
	for _, c := range []struct {
		r    row
		want string
	}{
		{snag, "| snag | 100 | 4.0 | 0.050 | 1.0 | 1.0 | 2000 | 20.0 | 10.0 | 0.10 | 30 | – |\n"},
		{peer, "| peer | 2 | 100.0 | 0.500 | 10.0 | 16.7 | 200 | 0.0 | 0.0 | 0.00 | 0 | 2.4 |\n"},
	} {
		if got := c.r.line(snag, 10*time.Second); got != c.want {
			t.Errorf("%swant\n%s", got, c.want)
		}
	}
	if columns := strings.Count(strings.Split(head, "\n")[0], "|"); columns != strings.Count(snag.line(snag, time.Second), "|") {
		t.Errorf("%d columns in the head", columns)
	}
}

func TestOutputKeepsTheFirstFigureAndTheLastSummary(t *testing.T) {
	o := output{began: time.Now().Add(-time.Second)}
	write := func(text string) {
		if _, err := o.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	write("snag: 3 streams\n")
	if o.first() != 0 || o.summary() != "" {
		t.Errorf("%s, %q", o.first(), o.summary())
	}
	write("12:32:57.820  live/cam1  first frame after 0.3 s\n12:33:07.446  3 streams: 2 FROZEN, 1 ok; snag: 2.3 % of a CPU, 26 MiB\n")
	was := o.first()
	write("12:33:17.446  3 streams: 3 ok; snag: 2.3 % of a CPU, 26 MiB\n")
	if was < time.Second || o.first() != was || o.summary() != "3 streams: 3 ok" {
		t.Errorf("%s, then %s, %q", was, o.first(), o.summary())
	}
}
