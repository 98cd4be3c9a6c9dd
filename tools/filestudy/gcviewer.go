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

// byGCViewer compares the pauses of a log with GCViewer's: how many, and their seconds.
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
	out := filepath.Join(dir, "events.csv")
	if _, _, err := command(ctx, o.limit, "java", "-Djava.awt.headless=true", "-jar", jar, path, out, "-t", "CSV"); err != nil {
		return nil
	}
	b, err := os.ReadFile(out)
	if err != nil {
		return nil
	}
	theirs, theirSeconds := pausesOfCSV(b)
	n, seconds, ok := pausesOf(recording)
	if !ok {
		return nil
	}
	return []compared{{"pauses", "GCViewer", n, theirs}, {"seconds", "GCViewer", seconds, theirSeconds}}
}

// pausesOfCSV are the pauses that GCViewer lists: Timestamp(sec/#),Used(K),Total(K),Pause(sec),GC-Type.
// A row of the type NONE is the heap after one. Its summary is no measure: it has two decimals, and
// counts the lines of application threads that were stopped as well.
func pausesOfCSV(b []byte) (n, seconds float64) {
	for line := range bytes.Lines(b) {
		f := strings.SplitN(strings.TrimSpace(string(line)), ",", 5)
		if len(f) < 5 || f[4] == "NONE" {
			continue
		}
		if pause, err := strconv.ParseFloat(f[3], 64); err == nil {
			n, seconds = n+1, seconds+pause
		}
	}
	return n, seconds
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
