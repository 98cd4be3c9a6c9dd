package main

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

//go:embed gadget.sh
var gadgetScript string

// gadgets are those of Inspektor Gadget that run without kprobes, and their options: each
// prints a report when something happens, or every few seconds.
var gadgets = map[string][]string{"trace_signal": nil, "top_process": nil, "top_cpu_throttle": nil, "profile_cpu": {"--collect-ustack"}}

// inspektorGadget runs all of them side by side. Nothing is kept but what they print.
func inspektorGadget(o *options) maker {
	return func(dir string) recorder {
		r := recorder{name: "Inspektor Gadget", tool: "ig", files: map[string]string{"gadget.sh": gadgetScript}}
		ig := filepath.Join(o.peers, "bin", "ig")
		if _, err := os.Stat(ig); err != nil {
			r.programs = []program{{argv: []string{ig}}} // lacking says so
			return r
		}
		for name, more := range gadgets {
			argv := append([]string{"sh", filepath.Join(dir, "gadget.sh"), ig, name}, more...)
			r.programs = append(r.programs, program{name: name, stop: syscall.SIGTERM, argv: argv})
		}
		return r
	}
}

// gadgetAnswers are the reports of that time.
func gadgetAnswers(dir string, s span) (all []section, err error) {
	for name := range gadgets {
		text, err := os.ReadFile(filepath.Join(dir, name+".out"))
		if err != nil {
			return nil, err
		}
		var out strings.Builder
		for line := range strings.Lines(string(text)) {
			word, report, _ := strings.Cut(line, "\t")
			at, err := strconv.ParseFloat(word, 64)
			if err == nil && at >= float64(s.From.Unix()) && at <= float64(s.To.Unix()) {
				out.WriteString(report)
			}
		}
		all = append(all, section{name, out.String()})
	}
	return all, nil
}

// gadgetReport has the fields of all of them.
type gadgetReport struct {
	Comm, State, Sig string
	CPUUsage         float64 // % of a CPU
	MemoryRSS        float64 `json:"memoryRSS_raw"`
	CgroupPath       string
	NrThrottled      float64
	Samples          float64
	KernelStack      string                   `json:"kern_stack"`
	UserStack        struct{ Symbols string } `json:"user_stack_raw"`
	Proc             struct{ Comm string }
}

// readGadgets reads means over the reports of each gadget; of signals, how many there were.
func readGadgets(all []section, _ span) (a answer, err error) {
	a.figures = figures{}
	for _, s := range all {
		f, reports := figures{}, 0.0
		b := bufio.NewScanner(strings.NewReader(s.output))
		b.Buffer(nil, 64<<20)
		for b.Scan() {
			rows, text := []gadgetReport{{}}, b.Bytes()
			switch {
			case len(text) == 0:
				continue
			case text[0] == '{':
				err = json.Unmarshal(text, &rows[0])
			default:
				err = json.Unmarshal(text, &rows)
			}
			if err != nil {
				return a, fmt.Errorf("read a report of %s: %w", s.command, err)
			}
			reports++
			for _, r := range rows {
				f.addReport(s.command, r)
			}
		}
		if s.command == "trace_signal" {
			reports = 1
		}
		f.over(reports)
		for name, v := range f {
			a.figures[name] = v
		}
		a.figures["reports of "+s.command] += 0 // it ran: that there is nothing to report is an answer
	}
	return a, nil
}

// addReport names figures as those of the other tools are.
func (f figures) addReport(gadget string, r gadgetReport) {
	switch gadget {
	case "trace_signal":
		f["process "+r.Proc.Comm+" sends "+r.Sig]++
	case "top_process":
		name := "process " + r.Comm
		f[name+" cpu"] += r.CPUUsage
		f[name+" rss"] += r.MemoryRSS
		f[name+" state "+r.State]++
	case "top_cpu_throttle":
		f["cgroup "+r.CgroupPath+" throttled"] += r.NrThrottled
	case "profile_cpu":
		stack := r.UserStack.Symbols
		if r.KernelStack != "" {
			stack = r.KernelStack
		}
		function, _, _ := strings.Cut(stack, ";")
		f["function of "+r.Proc.Comm+" "+strings.TrimSpace(function)] += r.Samples
	}
}
