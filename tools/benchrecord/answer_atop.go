package main

import (
	"regexp"
	"strconv"
	"strings"
)

// A line of atop -P: label, host, time, date, time of day, interval, and then either the
// figures of the host or of a device, or a process: pid, (name), state and its figures.
var (
	atopLine    = regexp.MustCompile(`^(\w+) \S+ (\d+) \S+ \S+ \d+ (.*)$`)
	atopProcess = regexp.MustCompile(`^\d+ \((.*?)\) (\S) (.*)$`)
)

// atopFields are the figures that are read, by their place (atop(1), "parseable output").
var atopFields = map[string]map[int]string{
	"CPU":   {2: "cpu system", 3: "cpu user", 4: "cpu nice", 5: "cpu idle", 6: "cpu iowait"},
	"CPL":   {1: "load 1"},
	"DSK":   {1: "io_time", 2: "reads", 3: "sectors read", 4: "writes", 5: "sectors written"},
	"NET":   {1: "packets received", 2: "bytes received", 3: "packets sent", 4: "bytes sent"},
	"upper": {9: "udp input errors", 14: "retransmitted segments"}, // NET of the protocols
	"PAG":   {6: "oom kills"},
	"PSI":   {4: "pressure cpu some", 8: "pressure memory some", 12: "pressure memory full", 16: "pressure io some", 20: "pressure io full"},
	"PRC":   {1: "cpu", 2: "cpu"},
	"PRM":   {2: "rss"},
	"PRD":   {5: "sectors written"},
}

// atopThread is where a line says whether it is a process's (y) or one of its threads' (n),
// whom the process's line counts as well.
var atopThread = map[string]int{"PRC": 10, "PRM": 13, "PRD": 9}

// readAtop returns the mean a sample of each figure. Its times are whole minutes: what is
// outside is left out by the lines' own time.
func readAtop(all []section, s span) (answer, error) {
	f, times := figures{}, map[int64]bool{}
	for line := range strings.Lines(all[0].output) {
		m := atopLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		t, err := strconv.ParseInt(m[2], 10, 64)
		if err != nil || t < s.From.Unix() || t > s.To.Unix() {
			continue
		}
		times[t] = true
		label, object, words := m[1], "host", strings.Fields(m[3])
		if p := atopProcess.FindStringSubmatch(m[3]); p != nil {
			object, words = "process "+p[1], strings.Fields(p[3])
			if at := atopThread[label]; at >= len(words) || words[at] == "n" {
				continue
			}
			if label == "PRC" {
				f[object+" state "+p[2]]++
			}
		} else if label == "NET" && strings.HasPrefix(m[3], "upper ") {
			label = "upper"
		} else if len(words) > 0 && (label == "DSK" || label == "NET") {
			object = map[string]string{"DSK": "disk ", "NET": "interface "}[label] + words[0]
		}
		for at, name := range atopFields[label] {
			if at < len(words) {
				f.add(object+" "+name, words[at])
			}
		}
	}
	f.over(float64(len(times)))
	return answer{figures: f}, nil
}
