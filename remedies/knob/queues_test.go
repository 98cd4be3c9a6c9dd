package knob

import (
	"strings"
	"testing"

	"snag/remedies/plan"
)

func TestMasksAreWrittenAsTheKernelTakesThem(t *testing.T) {
	for _, c := range []struct {
		cpus []int
		want string
	}{
		{nil, "0"}, {[]int{0}, "1"}, {[]int{0, 1}, "3"}, {[]int{31}, "80000000"}, {[]int{32}, "1,00000000"}, {[]int{0, 64, 95}, "80000001,00000000,00000001"},
	} {
		got := Mask(c.cpus)
		if got != c.want {
			t.Errorf("%v: %s, want %s", c.cpus, got, c.want)
		}
		if _, err := parseMask(got); err != nil {
			t.Error(err)
		}
	}
}

func TestSameMask(t *testing.T) {
	q := queueMask{}
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"3", "00000003", true}, {"ff", "FF", true}, {"1,0", "1,00000000", true}, {"1,00000000", "100000000", false}, {"3", "4", false}, {"0x3", "3", false},
	} {
		if q.Same(plan.Target{}, c.a, c.b) != c.same {
			t.Errorf("%s and %s", c.a, c.b)
		}
	}
}

func TestWhatAQueueDoesNotTake(t *testing.T) {
	zero := 0
	for _, bad := range []string{"0x3", "", ",", "g", "123456789", "3 ", "1,,2"} {
		if err := (queueMask{}).Valid(plan.Target{Kind: "rps", Device: "eth0", Queue: &zero}, bad); (err == nil) != (bad == "3 ") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := (flowCount{}).Valid(plan.Target{Kind: "rfs", Device: "eth0"}, "4096"); err == nil || !strings.Contains(err.Error(), "needs a queue") {
		t.Error(err)
	}
	if !(flowCount{}).Same(plan.Target{}, "4096", "4000") || (flowCount{}).Same(plan.Target{}, "4096", "5000") {
		t.Error("the kernel rounds rps_flow_cnt up to a power of two")
	}
}

func TestEverySysctlIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Sysctls {
		if seen[s.Name] || s.About == "" || s.Helps == "" || s.Hurts == "" || s.Source == "" || s.Since == "" || len(s.Words) == 0 && (s.Unit == "" || s.Min >= s.Max) {
			t.Errorf("%+v", s)
		}
		seen[s.Name] = true
	}
}

func FuzzValues(f *testing.F) {
	f.Add("net.ipv4.tcp_rmem", "4096 131072 6291456")
	f.Add("net.core.default_qdisc", "fq")
	f.Add("net.core.rmem_max", "-1")
	f.Fuzz(func(t *testing.T, name, value string) {
		if err := (sysctl{}).Valid(plan.Target{Kind: "sysctl", Name: name}, value); err == nil {
			if s, err := sysctlOf(name); err != nil || strings.ContainsAny(value, "\n\x00") && len(s.Words) > 0 {
				t.Errorf("%s takes %q", name, value)
			}
		}
		zero := 0
		_ = (queueMask{}).Valid(plan.Target{Device: "eth0", Queue: &zero}, value)
	})
}
