package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"
)

// ask runs the commands that a recorder has for questions about a past time.
func ask(ctx context.Context, o *options, r *running, s span) (string, error) {
	if r.tool == "ig" { // it keeps nothing: what it printed then is the answer
		all, err := gadgetAnswers(r.dir, s)
		return joinSections(all), err
	}
	commands, err := questions(ctx, o, r, s)
	if err != nil {
		return "", err
	}
	var all []section
	for _, argv := range commands {
		out, err := output(ctx, r.dir, argv)
		if err != nil {
			return "", err
		}
		all = append(all, section{strings.Join(argv, " "), string(out)})
	}
	return joinSections(all), nil
}

// questions are commands, or addresses that are fetched.
func questions(ctx context.Context, o *options, r *running, s span) ([][]string, error) {
	switch r.tool {
	case "snag":
		return [][]string{{o.snag, "find", "--ring", filepath.Join(r.dir, "ring"), "--json", "--from", s.From.UTC().Format(time.RFC3339), "--to", s.To.UTC().Format(time.RFC3339)}}, nil
	case "below":
		return belowQuestions(o, r.dir, s), nil
	case "atop": // its times are whole minutes
		return [][]string{{debian(o, "usr/bin/atop"), "-r", filepath.Join(r.dir, "atop.raw"), "-b", s.From.Format("200601021504"), "-e", s.To.Add(time.Minute).Format("200601021504"),
			"-P", "CPU,CPL,PAG,PSI,DSK,NET,PRC,PRM,PRD"}}, nil
	case "sysstat":
		return [][]string{{debian(o, "usr/bin/sadf"), "-p", "-s", clock(s.From), "-e", clock(s.To), filepath.Join(r.dir, "sa"), "--", "-A"}}, nil
	case "netdata":
		return netdataQuestions(ctx, s)
	case "node_exporter":
		return [][]string{{fmt.Sprintf(`http://%s/api/v1/query?time=%d&query={__name__=~"node_.%%2B"}[%ds]`, prometheusAt, s.To.Unix(), int(s.To.Sub(s.From).Seconds()))}}, nil
	}
	if r.tool == "tshark" {
		return captureQuestions(ctx, r.dir, s)
	}
	return perfQuestions(r.dir, s)
}

func belowQuestions(o *options, dir string, s span) (all [][]string) {
	// "cgroup" has every group of the host.
	for _, what := range []string{"system", "disk", "process", "cgroup", "iface", "network", "transport"} {
		all = append(all, []string{filepath.Join(o.peers, "bin", "below"), "--config", filepath.Join(dir, "below.conf"), "dump", what,
			"-b", s.From.Format(time.DateTime), "-e", s.To.Format(time.DateTime), "-O", "json", "--everything"})
	}
	return all
}

// perfQuestions are two reports of each file of that time, by programs and by functions:
// each file is named after its end, and ten seconds long.
func perfQuestions(dir string, s span) (all [][]string, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "perf", "data.2*"))
	for _, file := range files {
		name := strings.TrimPrefix(filepath.Base(file), "data.") // to a hundredth of a second
		ended, err := time.ParseInLocation("20060102150405", name[:min(14, len(name))], time.Local)
		if err == nil && ended.After(s.From.Add(5*time.Second)) && ended.Before(s.To.Add(5*time.Second)) {
			for _, sort := range []string{"comm", "comm,symbol"} {
				all = append(all, []string{"perf", "report", "--stdio", "-g", "none", "--no-children", "--sort", sort, "-i", file})
			}
		}
	}
	if len(all) == 0 && err == nil {
		err = fmt.Errorf("no file of perf is of the time from %s to %s", clock(s.From), clock(s.To))
	}
	return all, err
}

// netdataQuestions are the mean of every dimension of every chart, and the alarms. Without
// "unaligned" netdata moves the time to a multiple of its length, beyond the fault's start.
func netdataQuestions(ctx context.Context, s span) (all [][]string, err error) {
	base := "http://" + netdataAt + "/api/v1/"
	b, err := get(ctx, base+"charts")
	if err != nil {
		return nil, err
	}
	var list struct{ Charts map[string]any }
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, fmt.Errorf("read netdata's list of charts: %w", err)
	}
	for chart := range list.Charts {
		if !strings.HasPrefix(chart, "netdata.") { // of itself
			q := url.Values{"chart": {chart}, "after": {fmt.Sprint(s.From.Unix())}, "before": {fmt.Sprint(s.To.Unix())}, "points": {"1"}, "group": {"average"}, "format": {"json"}, "options": {"absolute|unaligned"}}
			all = append(all, []string{base + "data?" + q.Encode()})
		}
	}
	return append(all, []string{base + "alarm_log"}), nil
}
