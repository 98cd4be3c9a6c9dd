// Package figure is what a run of an ablation measures: the load command's own figure,
// or a counter of the kernel while it runs.
package figure

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Kind is where a figure comes from.
type Kind int

// The kinds.
const (
	Time    Kind = iota // the wall time of the load command, seconds
	Exit                // the share of its runs that fail
	Output              // a number that it prints
	Counter             // a counter of the kernel, each second
	Symptom             // one of snag's own symptoms
)

// Figure is what is measured.
type Figure struct {
	Kind   Kind
	Name   string // as it was asked for
	Unit   string // s, /s, bit/s, %; "" where it is not known
	Higher bool   // more is better

	pattern      *regexp.Regexp // one group, and a second one for the unit's prefix
	factor       map[string]float64
	proto, field string // of a counter
}

// Ratio reports whether it is a size that is always above 0, so that effects are ratios.
func (f Figure) Ratio() bool {
	return f.Kind == Time || f.Kind == Output && f.Unit != "%"
}

// Grain is the figure's smallest step when it is measured for so many seconds; 0 where
// it is continuous.
func (f Figure) Grain(seconds float64) float64 {
	switch f.Kind {
	case Exit:
		return 1
	case Counter:
		return 1 / max(seconds, 0.1)
	}
	return 0
}

var times = map[string]float64{"us": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}

var bits = map[string]float64{"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}

// ready are figures of well-known load programs, by their names: the text that each
// prints (wrk 4: src/wrk.c; iperf 3: src/iperf_locale.c; ApacheBench: support/ab.c).
var ready = map[string]Figure{
	"wrk":         {Unit: "/s", Higher: true, pattern: regexp.MustCompile(`(?m)^Requests/sec:\s+([\d.]+)`)},
	"wrk:latency": {Unit: "s", pattern: regexp.MustCompile(`(?m)^\s+Latency\s+([\d.]+)(us|ms|s|m|h)\b`), factor: times},
	"wrk:50%":     wrkPercentile("50"), "wrk:75%": wrkPercentile("75"), "wrk:90%": wrkPercentile("90"), "wrk:99%": wrkPercentile("99"),
	"iperf3":      {Unit: "bit/s", Higher: true, pattern: regexp.MustCompile(`(?m)\s([\d.]+) ([KMGT]?)bits/sec.*\breceiver\s*$`), factor: bits},
	"iperf3:lost": {Unit: "%", pattern: regexp.MustCompile(`(?m)\(([\d.]+)%\)\s+receiver\s*$`)},
	"ab":          {Unit: "/s", Higher: true, pattern: regexp.MustCompile(`(?m)^Requests per second:\s+([\d.]+)`)},
	"ab:50%":      abPercentile("50"), "ab:90%": abPercentile("90"), "ab:95%": abPercentile("95"), "ab:99%": abPercentile("99"),
}

func wrkPercentile(p string) Figure { // with --latency
	return Figure{Unit: "s", pattern: regexp.MustCompile(`(?m)^\s+` + p + `%\s+([\d.]+)(us|ms|s|m|h)\b`), factor: times}
}

func abPercentile(p string) Figure { // whole milliseconds
	return Figure{Unit: "ms", pattern: regexp.MustCompile(`(?m)^\s+` + p + `%\s+(\d+)\b`)}
}

// Ready are the names of the ready ones.
func Ready() []string {
	var all []string
	for name := range ready {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// Parse reads what --measure names: time, exit, a ready one, higher:REGEXP or
// lower:REGEXP with one group, counter:NAME or rate:NAME (more is better) with NAME as
// nstat(8) writes it (UdpRcvbufErrors), or symptom:NAME.
func Parse(text string) (Figure, error) {
	kind, rest, _ := strings.Cut(text, ":")
	f := Figure{Name: text}
	switch kind {
	case "time":
		f.Kind, f.Unit = Time, "s"
		return f, nil
	case "exit":
		f.Kind = Exit
		return f, nil
	case "higher", "lower":
		p, err := regexp.Compile("(?m)" + rest)
		if err != nil {
			return f, fmt.Errorf("%q: %w", rest, err)
		}
		if p.NumSubexp() != 1 {
			return f, fmt.Errorf("%q has %d groups: the number is one group, as 'took ([0-9.]+) ms'", rest, p.NumSubexp())
		}
		f.Kind, f.Higher, f.pattern = Output, kind == "higher", p
		return f, nil
	case "counter", "rate":
		f.Kind, f.Unit, f.Higher = Counter, "/s", kind == "rate"
		var ok bool
		if f.proto, f.field, ok = counterOf(rest); !ok {
			return f, fmt.Errorf("%q is not a counter of /proc/net/snmp, snmp6 or netstat: as UdpRcvbufErrors or TcpExtListenOverflows (nstat -az lists them)", rest)
		}
		return f, nil
	case "symptom":
		if rest == "" {
			return f, errors.New("symptom: names none, as symptom:datagrams-lost")
		}
		f.Kind, f.Name = Symptom, rest
		return f, nil
	}
	r, ok := ready[text]
	if !ok {
		return f, fmt.Errorf("%q is none of time, exit, %s, higher:REGEXP, lower:REGEXP, counter:NAME, rate:NAME, symptom:NAME", text, strings.Join(Ready(), ", "))
	}
	r.Kind, r.Name = Output, text
	return r, nil
}

// protocols of the counters, the longest first.
var protocols = []string{"UdpLite6", "UdpLite", "TcpExt", "MPTcpExt", "IcmpMsg", "IpExt", "Icmp6", "Udp6", "Icmp", "Ip6", "Tcp", "Udp", "Ip"}

// counterOf parts UdpRcvbufErrors, Udp_RcvbufErrors or Udp.RcvbufErrors.
func counterOf(name string) (proto, field string, ok bool) {
	for _, p := range protocols {
		if rest, is := strings.CutPrefix(name, p); is {
			rest = strings.TrimLeft(rest, "_.:")
			return p, rest, rest != ""
		}
	}
	return "", "", false
}

// errNoNumber is of a load whose output has not got the figure.
var errNoNumber = errors.New("its output has no such number")

// number is the figure in a load's output: the last one, which sums up.
func (f Figure) number(out []byte) (float64, error) {
	all := f.pattern.FindAllSubmatch(out, -1)
	if len(all) == 0 {
		return 0, fmt.Errorf("%w: %s looks for %s", errNoNumber, f.Name, f.pattern)
	}
	last := all[len(all)-1]
	v, err := strconv.ParseFloat(string(last[1]), 64)
	if err != nil {
		return 0, fmt.Errorf("%q in its output is not a number: %w", last[1], errNoNumber)
	}
	if f.factor != nil {
		v *= f.factor[string(last[2])]
	}
	return v, nil
}
