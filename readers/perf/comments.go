package perf

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"snag/internal/secrets"
	"snag/readers/reader"
	"snag/recording"
)

// comments are what perf script --header tells of the recording, before the
// samples (tools/perf/util/header.c).
type comments struct {
	captured    time.Time // when perf.data was last written; zero: not told
	first, last int64     // of the samples, ns on perf's clock; 0: not told
	wall, mono  int64     // the same moment on both clocks, ns (--clockid); 0: not told
	host        string
	machine     reader.Machine
	hz          map[string]float64 // of events that are taken at a rate
	facts       []recording.Fact
}

// names of the facts; the others are left out.
var factNames = map[string]string{
	"perf version": "perf.version", "cpudesc": "cpu.model", "cmdline": "perf.cmdline",
}

const mostFact = 1024 // bytes

// parseComments reads the lines that begin with '#'. captured has no zone: it is
// the one of the host that recorded.
func parseComments(head []byte, zone *time.Location) comments {
	c := comments{hz: map[string]float64{}}
	for len(head) > 0 {
		line, rest, _ := bytes.Cut(head, []byte("\n"))
		head = rest
		if len(line) == 0 {
			continue
		}
		if line[0] != '#' {
			break
		}
		name, value, ok := strings.Cut(strings.TrimLeft(string(line), "# "), ":")
		if !ok {
			continue
		}
		c.take(strings.TrimSpace(name), strings.TrimSpace(value), zone)
	}
	return c
}

func (c *comments) take(name, value string, zone *time.Location) {
	switch name {
	case "captured on":
		if at, err := time.ParseInLocation(time.ANSIC, value, zone); err == nil {
			c.captured = at
		}
	case "time of first sample":
		c.first = seconds(value)
	case "time of last sample":
		c.last = seconds(value)
	case "nrcpus online":
		if n, err := strconv.Atoi(value); err == nil && n > 0 && n <= 1<<16 {
			c.machine.CPUs = n
		}
	case "hostname":
		c.host = value
	case "os release":
		c.machine.Kernel = value
	case "arch":
		c.machine.Arch = value
	case "reference time": // 2026-11-21 10:00:00.1 = 1795255200.123456 (TOD) = 123.456789 (CLOCK_MONOTONIC)
		if f := strings.Split(value, " = "); len(f) == 3 {
			wall, _, _ := strings.Cut(f[1], " ")
			mono, _, _ := strings.Cut(f[2], " ")
			c.wall, c.mono = seconds(wall), seconds(mono)
		}
	case "event":
		c.event(value)
	}
	if name == "cmdline" {
		value = secrets.Line(value)
	}
	if fact := factNames[name]; fact != "" && value != "" {
		c.facts = append(c.facts, recording.Fact{Name: fact, Value: value[:min(len(value), mostFact)], Source: "perf script --header"})
	}
}

// event reads "name = cpu-clock, , id = { 5, 6 }, …, { sample_period, sample_freq } = 99, …, freq = 1, …".
func (c *comments) event(value string) {
	name, hz, freq := "", 0.0, false
	for _, f := range strings.Split(value, ", ") {
		k, v, _ := strings.Cut(f, " = ")
		switch k {
		case "name":
			name = v
		case "sample_freq }", "sample_freq":
			hz, _ = strconv.ParseFloat(v, 64)
		case "freq":
			freq = v == "1"
		}
	}
	if freq && hz > 0 && hz < 1e7 {
		c.hz[string(eventName([]byte(name)))] = hz
	}
}

// seconds reads "51058.439989" to ns; 0 where it is no number, or out of reach.
func seconds(s string) int64 {
	_, ns, ok := timeBefore([]byte(s), len(s))
	if !ok {
		return 0
	}
	return ns
}

// placed says how perf's clock, which counts from the host's start, was put on the
// wall's.
type placed struct {
	base int64 // Unix ns of its zero
	why  string
	cure string
}

// place finds where the clock's zero lies. last is the time of the file's last
// sample, where that could be looked up (-1: not); modified is the file's.
func (c *comments) place(first, last int64, modified time.Time) placed {
	end := c.last
	if end == 0 {
		end = last
	}
	if end <= 0 {
		end = first
	}
	switch {
	case c.wall > 0 && c.mono > 0:
		return placed{base: c.wall - c.mono}
	case !c.captured.IsZero():
		return placed{base: c.captured.UnixNano() - end, why: "when it was is taken from the header's \"captured on\", to the second and in the zone of --tz"}
	}
	return placed{base: modified.UnixNano() - end, why: "perf's clock counts from the host's start: when it was is taken from the file's last change", cure: "perf script --header shows the second; perf record -k CLOCK_MONOTONIC shows it exactly"}
}
