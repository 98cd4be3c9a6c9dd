package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// askBelow dumps every category of its store that a host without version 2's controllers
// has.
func askBelow(ctx context.Context, o *options, r *running, before, during span) (answer, error) {
	return both(before, during, func(s span) (figures, error) {
		f := figures{}
		for _, what := range []string{"system", "disk", "process", "cgroup", "iface", "network", "transport"} {
			out, err := output(ctx, r, filepath.Join(o.peers, "bin", "below"), "--config", filepath.Join(r.dir, "below.conf"), "dump", what,
				"-b", s.From.Format("2006-01-02 15:04:05"), "-e", s.To.Format("2006-01-02 15:04:05"), "-O", "json", "--everything")
			if err != nil {
				return nil, err
			}
			if err := f.below(what, out); err != nil {
				return nil, fmt.Errorf("below dump %s: %w", what, err)
			}
		}
		return f, nil
	})
}

// belowCounts are figures that grow from the boot on.
var belowCounts = regexp.MustCompile(`^(OOM Kills|Time Spend .*|.* (Completed|Merged|Sectors)|Context Switches|Total .*|Udp6?(InErrs|RcvbufErrs|SndBufErrs|NoPorts))$`)

// below adds a dump: a list of samples, each a row or a list of rows. Of processes with one
// name it takes the sum.
func (f figures) below(what string, doc []byte) error {
	var samples []json.RawMessage
	if err := json.Unmarshal(doc, &samples); err != nil {
		return err
	}
	first := figures{}
	for i, s := range samples {
		var rows []map[string]any
		if err := json.Unmarshal(s, &rows); err != nil {
			var one map[string]any
			if err := json.Unmarshal(s, &one); err != nil {
				return err
			}
			rows = []map[string]any{one}
		}
		for _, row := range rows {
			f.belowRow(belowName(what, row), row, i == 0, first, float64(len(samples)))
		}
	}
	return nil
}

func belowName(what string, row map[string]any) string {
	text := func(key string) string { s, _ := row[key].(string); return s }
	switch what {
	case "process":
		return "process " + text("Comm")
	case "disk":
		return "disk " + text("Name")
	case "iface":
		return "interface " + text("Interface") + text("Name")
	case "cgroup":
		return "cgroup " + text("Name")
	}
	return "host"
}

func (f figures) belowRow(object string, row map[string]any, isFirst bool, first figures, samples float64) {
	for key, value := range row {
		word, ok := value.(string)
		if !ok {
			continue
		}
		name := object + " " + key
		if key == "State" {
			f[object+" state "+strings.ToLower(word)] += 1 / samples
			continue
		}
		v, ok := belowNumber(word)
		switch {
		case !ok || key == "Timestamp" || key == "Pid" || key == "Ppid":
		case belowCounts.MatchString(key):
			if isFirst {
				first[name] = v
			}
			f[name] = v - first[name] // in the whole time
		default:
			f[name] += v / samples
		}
	}
}

// belowNumber reads a figure with its unit, "20.6 MB/s", "13.46%".
func belowNumber(word string) (float64, bool) {
	digits := strings.TrimRightFunc(word, func(c rune) bool { return c < '0' || c > '9' })
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return 0, false
	}
	unit := strings.TrimSpace(word[len(digits):])
	for prefix, by := range map[string]float64{"KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40} {
		if strings.HasPrefix(unit, prefix) {
			v *= by
		}
	}
	return v, true
}
