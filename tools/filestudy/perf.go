package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// period is that of a sample, which inferno adds up instead of the samples where it stands there.
var period = regexp.MustCompile(`(?m)^(\S.* [0-9]+\.[0-9]+:) +[0-9]+ +(\S+:)`)

// byInferno compares the samples of a profile with what inferno makes of it: of the text of perf script.
func byInferno(ctx context.Context, o options, path, recording string) []compared {
	name := filepath.Join(o.tools, "bin", "inferno-collapse-perf")
	if _, err := os.Stat(name); err != nil {
		if name, err = exec.LookPath("inferno-collapse-perf"); err != nil {
			return nil
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	bare, err := os.CreateTemp("", "filestudy-")
	if err != nil {
		return nil
	}
	defer os.Remove(bare.Name())
	_, err = bare.Write(period.ReplaceAll(text, []byte("$1 $2")))
	if bare.Close() != nil || err != nil {
		return nil
	}
	out, _, err := command(ctx, o.limit, name, "--all", bare.Name())
	if err != nil {
		return nil
	}
	var theirs float64
	for line := range bytes.Lines(out) {
		text := strings.TrimSpace(string(line))
		if v, err := strconv.ParseFloat(text[strings.LastIndexByte(text, ' ')+1:], 64); err == nil {
			theirs += v
		}
	}
	return []compared{{"samples", "inferno", samplesOf(recording), theirs}}
}

// samplesOf are the samples of a recording's profile.
func samplesOf(recording string) (n float64) {
	b, err := os.ReadFile(filepath.Join(recording, "tables", "oncpu.jsonl"))
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(b) {
		var row struct{ N float64 }
		if json.Unmarshal(line, &row) == nil {
			n += row.N
		}
	}
	return n
}
