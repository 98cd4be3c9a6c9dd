package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"snag/report"
)

// life is the folder of what the machine printed from one boot to the next.
type life struct{ dir string }

// text is what a step printed; "" where the step was not reached.
func (l life) text(name string) string {
	b, err := os.ReadFile(filepath.Join(l.dir, name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// exit wants a step's exit code.
func (l life) exit(name string, want int) error {
	switch got := l.text(name + ".exit"); got {
	case strconv.Itoa(want):
		return nil
	case "":
		return fmt.Errorf("the step %s was not reached", name)
	default:
		return fmt.Errorf("the step %s ended with %s, not %d: %s %s", name, got, want, tail(l.text(name)), tail(l.text(name+".err")))
	}
}

// tail is the end of a text, for an error.
func tail(text string) string { return text[max(0, len(text)-600):] }

// number reads a number that a step left.
func (l life) number(name string) (float64, error) {
	f, err := strconv.ParseFloat(l.text(name), 64)
	if err != nil {
		return 0, fmt.Errorf("%s: no number: %q", name, l.text(name))
	}
	return f, nil
}

// moment reads a time, seconds since the epoch.
func (l life) moment(name string) (time.Time, error) {
	f, err := l.number(name)
	return time.Unix(0, int64(f*1e9)).UTC(), err
}

// document reads a verdict that snag printed as JSON.
func (l life) document(name string) (d report.Document, err error) {
	if err := json.Unmarshal([]byte(l.text(name)), &d); err != nil {
		return d, fmt.Errorf("no verdict in %s: %w: %s", name, err, tail(l.text(name+".err")))
	}
	return d, nil
}

// settings reads lines of KEY=VALUE, or KEY: VALUE.
func settings(text string) map[string]string {
	out := map[string]string{}
	for _, line := range strings.Split(text, "\n") {
		if at := strings.IndexAny(line, "=:"); at > 0 {
			out[line[:at]] = strings.TrimSpace(line[at+1:])
		}
	}
	return out
}

// fields reads lines of a name and a number.
func fields(text string) map[string]float64 {
	out := map[string]float64{}
	for _, line := range strings.Split(text, "\n") {
		w := strings.Fields(line)
		if len(w) < 2 {
			continue
		}
		if f, err := strconv.ParseFloat(w[1], 64); err == nil {
			out[strings.TrimSuffix(w[0], ":")] = f
		}
	}
	return out
}

// culprits names those of a verdict.
func culprits(d report.Document) (out []string) {
	for _, e := range d.Verdict {
		if e.State == "culprit" {
			out = append(out, e.Suspect+" ("+e.Text+")")
		}
	}
	return out
}
