package main

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snag/internal/built"
)

// oneNameTwice are ten minutes of recorders as Prometheus imports them: of edge-1 there are two with other labels, of
// edge-2 two with the same labels, which take turns in one series; edge-3 is collected by two servers, and edge-4 was
// started again with another label.
func oneNameTwice(now time.Time) string {
	var out strings.Builder
	put := func(labels string, start func(i int) int64, from, to time.Duration) {
		for _, name := range []string{"snag_record_up", "snag_record_start_timestamp_seconds"} {
			i := 0
			for at := now.Add(-from); at.Before(now.Add(to)); at = at.Add(10 * time.Second) {
				v := int64(1)
				if name != "snag_record_up" {
					v = start(i)
				}
				fmt.Fprintf(&out, "%s{%s} %d %d\n", name, labels, v, at.Unix())
				i++
			}
		}
	}
	at := func(v int64) func(int) int64 { return func(int) int64 { return v } }
	const always, ahead = 10 * time.Minute, 10 * time.Minute
	put(`instance="edge-1",cluster="a"`, at(1000), always, ahead)
	put(`instance="edge-1",cluster="b"`, at(2000), always, ahead)
	put(`instance="edge-2"`, func(i int) int64 { return 1000 + int64(i%2) }, always, ahead)
	put(`instance="edge-3",prometheus_replica="a"`, at(1000), always, ahead)
	put(`instance="edge-3",prometheus_replica="b"`, at(1000), always, ahead)
	put(`instance="edge-4",role="edge"`, at(1000), always, -2*time.Minute)
	put(`instance="edge-4",role="origin"`, at(2000), 2*time.Minute, ahead)
	return out.String() + "# EOF\n"
}

// What snag asks for two recorders of one name, answered by a real Prometheus.
func TestTwoRecordersOfOneNameInPrometheus(t *testing.T) {
	dir := t.TempDir()
	store := prometheusWith(t, dir, oneNameTwice(time.Now()))
	snag := filepath.Join(dir, "snag")
	built.Program(t, "snag", snag)
	out, err := exec.Command(snag, "find", "--fleet", store).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 11 {
		t.Fatalf("%v: %s", err, out)
	}
	t.Logf("\n%s", out)
	for _, want := range []string{
		"4 hosts, 0 affected",
		"NO HOST IS SEEN TO BE AFFECTED, but not all were seen: see below",
		"not seen   edge-1: 2 recorders have this name and differ in cluster; give each its own label instance",
		"not seen   edge-2: several recorders have this name and the same labels; give each its own label instance",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q", want)
		}
	}
	if n := strings.Count(string(out), "not seen "); n != 2 {
		t.Errorf("%d hosts are not seen", n)
	}
}
