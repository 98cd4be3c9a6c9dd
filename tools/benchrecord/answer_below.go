package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// belowCounts are figures that grow from the boot on.
var belowCounts = regexp.MustCompile(`^(OOM Kills|Time Spend .*|.* (Completed|Merged|Sectors)|Context Switches|Total .*|Udp6?(InErrs|RcvbufErrs|SndBufErrs|NoPorts))$`)

// readBelow reads the dumps: each a list of samples, and a sample a row or a list of rows.
func readBelow(all []section, _ span) (answer, error) {
	f := figures{}
	for _, s := range all {
		_, rest, _ := strings.Cut(s.command, " dump ")
		what, _, _ := strings.Cut(rest, " ")
		var samples []json.RawMessage
		if err := json.Unmarshal([]byte(s.output), &samples); err != nil {
			return answer{}, fmt.Errorf("read below dump %s: %w", what, err)
		}
		first := figures{}
		for _, sample := range samples {
			rows := []map[string]any{{}}
			if json.Unmarshal(sample, &rows) != nil {
				if err := json.Unmarshal(sample, &rows[0]); err != nil {
					return answer{}, fmt.Errorf("read below dump %s: %w", what, err)
				}
			}
			for _, row := range rows {
				f.belowRow(belowObject(what, row), row, first, float64(len(samples)))
			}
		}
	}
	return answer{figures: f}, nil
}

func belowObject(what string, row map[string]any) string {
	switch what {
	case "process":
		return fmt.Sprint("process ", row["Comm"])
	case "disk", "cgroup":
		return fmt.Sprint(what, " ", row["Name"])
	case "iface":
		return fmt.Sprint("interface ", row["Interface"])
	}
	return "host"
}

// belowRow adds a row's part of the means. Of processes with one name it takes the sum.
func (f figures) belowRow(object string, row map[string]any, first figures, samples float64) {
	for key, value := range row {
		word, _ := value.(string)
		name := object + " " + key
		v, ok := belowNumber(word)
		switch {
		case key == "State":
			f[object+" state "+strings.ToLower(word)] += 1 / samples
		case !ok || key == "Timestamp" || key == "Pid" || key == "Ppid":
		case belowCounts.MatchString(key):
			if _, begun := first[name]; !begun {
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
	unit := strings.TrimSpace(word[len(digits):])
	for prefix, by := range map[string]float64{"KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40} {
		if strings.HasPrefix(unit, prefix) {
			v *= by
		}
	}
	return v, err == nil
}
