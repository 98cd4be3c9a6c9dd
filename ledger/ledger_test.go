package ledger

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"snag/recording"
	"snag/scene"
)

// table is a ledger as a person reads it.
func table(l *Ledger) string {
	var b strings.Builder
	for _, p := range l.Parties {
		fmt.Fprintf(&b, "%s %s:%s %.1f/s mean %.4f p99 %.4f open %.2f:", p.Role, p.Subject.Comm, address(p.Subject), p.Rate, p.Mean, p.P99, p.Open)
		for _, e := range p.Entries {
			fmt.Fprintf(&b, " %s", e.Account)
			if e.Where != "" {
				fmt.Fprintf(&b, "(%s)", e.Where)
			}
			fmt.Fprintf(&b, " %.0f%%", 100*e.Seconds/p.Demand)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// All that was open is booked, and once.
func TestEverySecondIsBookedOnce(t *testing.T) {
	files, err := filepath.Glob("../lab/recordings/*-sick.snag")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		r, err := recording.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		l := Build(scene.Build(r), r)
		for _, p := range l.Parties {
			sum := 0.0
			for _, e := range p.Entries {
				sum += e.Seconds
			}
			if sum < 0.999*p.Demand || sum > 1.001*p.Demand {
				t.Errorf("%s: %s: %.3f of %.3f request-seconds are booked", filepath.Base(file), address(p.Subject), sum, p.Demand)
			}
		}
		t.Logf("%s\n%s", filepath.Base(file), table(l))
	}
}
