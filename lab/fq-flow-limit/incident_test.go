package fqflowlimit

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

var (
	dropped = regexp.MustCompile(`dropped (\d+)`)
	limited = regexp.MustCompile(`flows_plimit (\d+)`)
)

func TestTruth(t *testing.T) {
	s := labtest.Stage(t)
	ns := s.Netns("probe")
	if out, err := s.Output(ns, "tc", "qdisc", "add", "dev", "lo", "root", "fq"); err != nil && strings.Contains(err.Error()+out, "unknown") {
		t.Skip("this kernel has no sch_fq: make lab-vm")
	}
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		d0, l0 := fq(t, s)
		time.Sleep(2 * time.Second)
		d1, l1 := fq(t, s)
		if (v == lab.Sick) != (d1 > d0+50) || d1 != l1 || d0 != l0 {
			t.Errorf("%s: fq dropped %d then %d, for the flow limit %d then %d", v, d0, d1, l0, l1)
		}
	})
}

// fq reads tc's counters; flows_plimit is printed once it is not 0.
func fq(t *testing.T, s *lab.Stage) (d, l int) {
	t.Helper()
	out, err := s.Output(s.Name("tx"), "tc", "-s", "qdisc", "show", "dev", "eth0")
	if err != nil {
		t.Fatal(err)
	}
	m := dropped.FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("no counters in %q", out)
	}
	d, _ = strconv.Atoi(m[1])
	if m := limited.FindStringSubmatch(out); m != nil {
		l, _ = strconv.Atoi(m[1])
	}
	return d, l
}
