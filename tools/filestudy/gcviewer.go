package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// byGCViewer compares the pauses of a log with GCViewer's summary: how many, and their seconds.
func byGCViewer(ctx context.Context, o options, path, recording string) []compared {
	jar := filepath.Join(o.tools, "gcviewer.jar")
	if _, err := os.Stat(jar); err != nil {
		return nil
	}
	dir, err := os.MkdirTemp("", "filestudy-")
	if err != nil {
		return nil
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "summary.csv")
	if _, _, err := command(ctx, o.limit, "java", "-Djava.awt.headless=true", "-jar", jar, path, out, "-t", "SUMMARY"); err != nil {
		return nil
	}
	b, err := os.ReadFile(out)
	if err != nil {
		return nil
	}
	summary := map[string]float64{}
	for line := range bytes.Lines(b) {
		f := strings.Split(strings.TrimSpace(string(line)), ";")
		if len(f) < 2 {
			continue
		}
		if v, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(f[1]), ",", ""), 64); err == nil {
			summary[strings.TrimSpace(f[0])] = v
		}
	}
	n, seconds, ok := pausesOf(recording)
	if !ok || len(summary) == 0 {
		return nil
	}
	return []compared{{"pauses", "GCViewer", n, summary["pauseCount"]}, {"seconds", "GCViewer", seconds, summary["accumPause"]}}
}

// pausesOf are the pauses that a recording has as facts: their number and seconds.
func pausesOf(recording string) (n, seconds float64, ok bool) {
	b, err := os.ReadFile(filepath.Join(recording, "tables", "facts.jsonl"))
	if err != nil {
		return 0, 0, false
	}
	for line := range bytes.Lines(b) {
		var fact struct{ Name, Value string }
		if json.Unmarshal(line, &fact) != nil || !strings.HasSuffix(fact.Name, ".gc-log.pauses") {
			continue
		}
		var count, sum float64
		if _, err := fmt.Sscanf(fact.Value, "%g, %g s in all", &count, &sum); err == nil {
			n, seconds, ok = n+count, seconds+sum, true
		}
	}
	return n, seconds, ok
}
