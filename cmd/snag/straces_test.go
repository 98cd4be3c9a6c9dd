package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
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
			judgeTrace(t, name, subjects, file)
		})
	}
}

// A log of an hour beside a trace of seconds takes nothing from what the trace tells, and
// adds no accusation: each measures for its own time.
func TestTracesBesideALogOfAnHour(t *testing.T) {
	subjects := map[string]string{"slow-consumer": `10\.83\.2\.2:`, "lock-convoy": `\[\d+\]`, "worker-queue": `\[\d+\]`, "slow-dependency": `:5432`, "peer-reset": `\[\d+\]`}
	for suspect := range subjects {
		for _, kind := range []string{"sick", "healthy"} {
			name := suspect + "-" + kind
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				file := filepath.Join("testdata", "straces", name+".strace.gz")
				dir := filepath.Join(t.TempDir(), "trace")
				if err := readers.Read(context.Background(), readers.Plan{Files: []string{file}, Dir: dir, Zone: time.UTC}); err != nil {
					t.Fatal(err)
				}
				r, err := recording.Open(dir)
				if err != nil {
					t.Fatal(err)
				}
				log := accessLog(t, r.Manifest.Start.Add(-25*time.Minute), time.Hour)
				r = judgeTrace(t, name, subjects, file, log)
				if length := r.Length(); length < 59*time.Minute {
					t.Errorf("the recording is %v long", length)
				}
				said := false
				for _, c := range r.Coverage {
					said = said || strings.HasPrefix(c.Probe, "strace ") && strings.Contains(c.Why, "that all files are of: what it alone measures is judged over these") && c.Until != 0
				}
				if !said {
					t.Errorf("the coverage does not say that the trace is of a part of the time: %+v", r.Coverage)
				}
			})
		}
	}
}

// accessLog is of a service that answers a request each second in a few milliseconds.
func accessLog(t *testing.T, from recording.Time, length time.Duration) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "access.log")
	var b bytes.Buffer
	for at := from.Wall(); at.Before(from.Wall().Add(length)); at = at.Add(time.Second) {
		fmt.Fprintf(&b, "10.1.0.%d - - [%s] \"GET /item/%d HTTP/1.1\" 200 512 \"-\" \"curl/8\" rt=0.00%d\n", at.Second(), at.Format("02/Jan/2006:15:04:05 -0700"), at.Unix()%97, 3+at.Unix()%5)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// judgeTrace wants the lab's answer of files.
func judgeTrace(t *testing.T, name string, subjects map[string]string, files ...string) *recording.Recording {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "recording")
	if err := readers.Read(context.Background(), readers.Plan{Files: files, Dir: dir, Zone: time.UTC}); err != nil {
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
	return r
}
