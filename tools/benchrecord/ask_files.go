package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// askAtop reads its raw file as parseable lines (atop(1), "parseable output").
func askAtop(ctx context.Context, o *options, r *running, before, during span) (answer, error) {
	return both(before, during, func(s span) (figures, error) {
		// Its times are whole minutes: what is outside is left out by the lines' own time.
		out, err := output(ctx, r, debian(o, "usr/bin/atop"), "-r", filepath.Join(r.dir, "atop.raw"), "-b", s.From.Format("200601021504"), "-e", s.To.Add(time.Minute).Format("200601021504"), "-P", "ALL")
		if err != nil {
			return nil, err
		}
		return parseAtop(out, s), nil
	})
}

var (
	atopProcess = regexp.MustCompile(`^(PR[GCMD]) \S+ (\d+) \S+ \S+ \d+ \d+ \((.*?)\) (\S) (.*)$`)
	atopSystem  = regexp.MustCompile(`^(CPU|CPL|DSK|NET|PSI|PAG) \S+ (\d+) \S+ \S+ (\d+) (.*)$`)
)

// atopFields are the figures of the lines of the system, by their place after the interval.
var atopFields = map[string]map[int]string{
	"CPU": {2: "host cpu system", 3: "host cpu user", 4: "host cpu nice", 5: "host cpu idle", 6: "host cpu iowait"},
	"CPL": {1: "host load 1"},
	"DSK": {1: "io_time", 2: "reads", 3: "sectors read", 4: "writes", 5: "sectors written"},
	"NET": {1: "packets received", 2: "bytes received", 3: "packets sent", 4: "bytes sent"},
	"PAG": {6: "host oom kills"},
	"PSI": {4: "host pressure cpu some", 8: "host pressure memory some", 12: "host pressure memory full", 16: "host pressure io some", 20: "host pressure io full"},
}

// parseAtop returns the mean a sample of each figure.
func parseAtop(out []byte, s span) figures {
	f, times := figures{}, map[int64]bool{}
	in := func(word string) bool {
		t, _ := strconv.ParseInt(word, 10, 64)
		if t < s.From.Unix() || t > s.To.Unix() {
			return false
		}
		times[t] = true
		return true
	}
	for line := range bytes.Lines(out) {
		l := strings.TrimSpace(string(line))
		if m := atopProcess.FindStringSubmatch(l); m != nil && in(m[2]) {
			f.atopProcess(m[1], "process "+m[3], m[4], strings.Fields(m[5]))
			continue
		}
		m := atopSystem.FindStringSubmatch(l)
		if m == nil || !in(m[2]) {
			continue
		}
		w := strings.Fields(m[4])
		for at, name := range atopFields[m[1]] {
			if at >= len(w) {
				continue
			}
			switch m[1] {
			case "DSK":
				name = "disk " + w[0] + " " + name
			case "NET":
				name = "interface " + w[0] + " " + name
			}
			f.add(name, w[at])
		}
	}
	return f.over(float64(len(times)))
}

// atopThread is where a line says whether it is a process's (y) or one of its threads' (n),
// whom the process's line counts as well.
var atopThread = map[string]int{"PRC": 10, "PRM": 13, "PRD": 9}

func (f figures) atopProcess(label, process, state string, w []string) {
	at := atopThread[label]
	if label == "PRG" { // after the command line, which has any number of words
		at = len(w) - 6
	}
	if at < 0 || at >= len(w) || w[at] == "n" {
		return
	}
	switch {
	case label == "PRG":
		f[process+" state "+state]++
	case label == "PRC" && len(w) > 2:
		f.add(process+" cpu", w[1])
		f.add(process+" cpu", w[2])
	case label == "PRM" && len(w) > 2:
		f.add(process+" rss", w[2])
	case label == "PRD" && len(w) > 5:
		f.add(process+" sectors written", w[5])
	}
}

func (f figures) add(name, word string) {
	if v, err := strconv.ParseFloat(word, 64); err == nil {
		f[name] += v
	}
}

func (f figures) over(n float64) figures {
	for name := range f {
		f[name] /= max(n, 1)
	}
	return f
}

// askSysstat reads sadc's file by sadf, all activities that are in it.
func askSysstat(ctx context.Context, o *options, r *running, before, during span) (answer, error) {
	return both(before, during, func(s span) (figures, error) {
		out, err := output(ctx, r, debian(o, "usr/bin/sadf"), "-p", "-s", clock(s.From), "-e", clock(s.To), filepath.Join(r.dir, "sa"), "--", "-A")
		if err != nil {
			return nil, err
		}
		return parseSadf(out), nil
	})
}

// parseSadf reads "host, interval, time, device, figure, value".
func parseSadf(out []byte) figures {
	f, n := figures{}, map[string]float64{}
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		w := strings.Split(s.Text(), "\t")
		if len(w) != 6 {
			continue
		}
		name := strings.TrimPrefix(w[3]+" "+w[4], "- ")
		f.add(name, w[5])
		n[name]++
	}
	for name := range f {
		f[name] /= n[name]
	}
	return f
}

// askPerf reads the files that ended in that time, or up to a file's length after it.
func askPerf(ctx context.Context, _ *options, r *running, before, during span) (answer, error) {
	return both(before, during, func(s span) (figures, error) {
		files, err := filepath.Glob(filepath.Join(r.dir, "perf", "data.2*"))
		f, n := figures{}, 0.0
		for _, file := range files {
			// The name is when it ended, to a hundredth of a second.
			name := strings.TrimPrefix(filepath.Base(file), "data.")
			ended, err := time.ParseInLocation("20060102150405", name[:min(14, len(name))], time.Local)
			if err != nil || ended.Before(s.From.Add(5*time.Second)) || ended.After(s.To.Add(5*time.Second)) {
				continue
			}
			out, err := output(ctx, r, "perf", "report", "--stdio", "-g", "none", "--no-children", "--sort", "comm", "-i", file)
			if err != nil {
				return nil, err
			}
			f.perf(out)
			n++
		}
		if n == 0 && err == nil {
			err = fmt.Errorf("no file of perf is of the time from %s to %s", clock(s.From), clock(s.To))
		}
		return f.over(n), err
	})
}

// perf adds a report's lines, "12.34%  name".
func (f figures) perf(report []byte) {
	for line := range bytes.Lines(report) {
		w := strings.Fields(string(line))
		if len(w) < 2 || !strings.HasSuffix(w[0], "%") {
			continue
		}
		name := "process " + w[1] + " cpu samples"
		if w[1] == "swapper" {
			name = "host idle samples"
		}
		f.add(name, strings.TrimSuffix(w[0], "%"))
	}
}
