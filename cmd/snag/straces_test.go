package main

import (
	"bytes"
	"context"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"snag/readers"
	"snag/recording"
	"snag/report"
	"snag/verdict"
)

// What strace wrote of the lab's incidents (tools/straces) is judged as the lab wants it:
// the culprit is named, and neither the healthy twin nor the distractor accuses anybody.
func TestTracesOfTheLabAreJudged(t *testing.T) {
	subjects := map[string]string{
		"slow-consumer": `10\.83\.2\.2:`, "lock-convoy": `\[\d+\]`, "worker-queue": `\[\d+\]`, "slow-dependency": `:5432`,
		"fd-limit": `\[\d+\]`, "peer-reset": `\[\d+\]`, "log-silence": `\[\d+\]`,
	}
	files, err := filepath.Glob("testdata/straces/*.strace.gz")
	if err != nil || len(files) != 3*len(subjects) {
		t.Fatalf("%d traces for %d incidents (%v): go run ./tools/straces", len(files), len(subjects), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".strace.gz")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "recording")
			if err := readers.Read(context.Background(), readers.Plan{Files: []string{file}, Dir: dir, Zone: time.UTC}); err != nil {
				t.Fatal(err)
			}
			r, err := recording.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			v := verdict.Judge(r)
			var text bytes.Buffer
			if err := report.WriteText(&text, v, report.Options{}); err != nil {
				t.Fatal(err)
			}
			culprits := v.With(verdict.Culprit)
			suspect, sick := strings.CutSuffix(name, "-sick")
			switch {
			case !sick && len(culprits) > 0:
				t.Errorf("%s is accused\n%s", culprits[0].Suspect.Name, text.String())
			case sick && len(culprits) == 0:
				t.Errorf("nobody is accused\n%s", text.String())
			case sick && (culprits[0].Suspect.Name != suspect || !regexp.MustCompile(subjects[suspect]).MatchString(culprits[0].Subject.Name)):
				t.Errorf("%s of %q is accused\n%s", culprits[0].Suspect.Name, culprits[0].Subject.Name, text.String())
			}
		})
	}
}
