package drawn

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"snag/lab"
)

// Heard is what two runs of snag watch said of the stream that was asked for, while snag
// find recorded: one with --host, and one as a viewer that sees nothing else.
type Heard struct {
	Host []Verdict `json:"host"`
	// Saw are the kinds of events that the viewer saw while snag find recorded: freeze, ended,
	// refused, late, slow, and so on.
	Saw []string `json:"saw"`
	// Said are the viewer's sentences, each once.
	Said []string `json:"said"`
}

// Verdict is one of snag watch --host; without a culprit it named nobody.
type Verdict struct {
	Culprit string      `json:"culprit,omitempty"`
	Subject lab.Subject `json:"subject,omitempty"`
	Text    string      `json:"text"`
}

// heard reads the files of RunOptions.Watches, beside a snag find that recorded until then; nil for no folder.
func heard(dir string, until time.Time) (*Heard, error) {
	if dir == "" {
		return nil, nil
	}
	h := &Heard{}
	err := errors.Join(
		linesOf(dir, lab.OnHost, func(l watched) {
			if l.Type == "verdict" {
				h.Host = append(h.Host, Verdict{l.Culprit, l.Subject, l.Text})
			}
		}),
		linesOf(dir, lab.Viewer, func(l watched) {
			if l.Type == "event" {
				h.Said = once(h.Said, l.Text)
				if l.T.Before(until) {
					h.Saw = once(h.Saw, l.Event)
				}
			}
		}))
	alarms, errAlarms := os.ReadFile(filepath.Join(dir, string(lab.Alarms)))
	if errors.Is(errAlarms, fs.ErrNotExist) { // nothing froze
		errAlarms = nil
	}
	for line := range strings.Lines(string(alarms)) {
		h.Said = once(h.Said, strings.TrimSpace(line))
	}
	return h, errors.Join(err, errAlarms)
}

func once(all []string, s string) []string {
	if s == "" || slices.Contains(all, s) {
		return all
	}
	return append(all, s)
}

// watched is a line of snag watch --json, as far as it is needed.
type watched struct {
	Type    string      `json:"type"`
	T       time.Time   `json:"t"`
	Stream  string      `json:"stream"`
	Event   string      `json:"event"`
	Text    string      `json:"text"`
	Culprit string      `json:"culprit"`
	Subject lab.Subject `json:"subject"`
}

// asked is how the lab calls the stream that is asked for.
const asked = "asked"

func linesOf(dir string, w lab.Watch, take func(watched)) error {
	raw, err := os.ReadFile(filepath.Join(dir, string(w)))
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var l watched
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return fmt.Errorf("read line %d of %s: %w", n, w, err)
		}
		if l.Stream == asked {
			take(l)
		}
	}
	return lines.Err()
}
