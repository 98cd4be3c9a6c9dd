package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// hour is one of samples, of a memory that is base at first, grows by so many MB, and has a peak in each
// tenth minute.
func hour(base, grows float64) (all []sample) {
	for i := range 360 {
		s := sample{at: time.Duration(i) * sampleEach, resident: base + grows*float64(i)/360}
		if i%60 == 0 {
			s.resident += 40
		}
		all = append(all, s)
	}
	return all
}

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		name    string
		samples []sample
		gaps    []string
		says    string // "" nothing
	}{
		{"flat, with peaks", hour(52, 0), nil, ""},
		{"it shrinks", hour(58, -5), nil, ""},
		{"a slope below the bound", hour(50, 4), nil, ""},
		{"a leak", hour(45, 8), nil, "grows by 8.0 MB an hour"},
		{"flat and large", hour(71, 0), nil, "is 71.0 MB (median)"},
		{"a gap", hour(52, 0), []string{"9s before x"}, "gaps: 9s before x"},
		{"too short to tell", hour(52, 0)[:100], nil, "was not judged"},
	} {
		err := verdict(c.samples, 10*time.Minute, c.gaps)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
}

func TestMetricsAreRead(t *testing.T) {
	text := `# HELP snag_ring_bytes Size of the ring's pieces.
# TYPE snag_ring_bytes gauge
snag_ring_bytes 1.5e+07
snag_record_live_bytes 2.1e+07
snag_party_hurt{party="nginx at 0.0.0.0:8080"} 1
snag_probe_lost_events_total{probe="ends.exec"} 3
snag_probe_lost_events_total{probe="oncpu"} 4
snag_judgements_total 2
`
	var s sample
	if err := s.read(strings.NewReader(text)); err != nil || s.ring != 15 || s.live != 21 || s.lost != 7 || s.judgements != 2 {
		t.Errorf("%+v, %v", s, err)
	}
	if err := s.read(strings.NewReader("snag_ring_bytes many\n")); err == nil {
		t.Error("a number that is none is taken")
	}
}

// Only what was recorded in this run counts.
func TestGaps(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"20261129T060000.000Z-20261129T060100.000Z-1s.snag", "20261129T080000.000Z-20261129T080100.000Z-1s.snag",
		"20261129T080100.002Z-20261129T080200.000Z-1s.snag", "20261129T080209.000Z-20261129T080300.000Z-1s.snag",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	gaps, err := gapsOf(dir, time.Date(2026, 11, 29, 7, 59, 59, 0, time.UTC))
	if err != nil || len(gaps) != 1 || !strings.HasPrefix(gaps[0], "9s before 20261129T080209") {
		t.Errorf("%q, %v", gaps, err)
	}
}
