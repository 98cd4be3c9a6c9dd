package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// asleep is how long rtcwake lets the machine sleep, s.
const asleep = 20

// suspended are the claims about a suspend: "mem" is ACPI S3, "freeze" suspend to idle.
func suspended(l life, how string) []check {
	what := map[string]string{"mem": "suspended to memory", "freeze": "suspended to idle"}[how] + ": "
	checks := []check{
		{what + "the machine slept", func() (string, error) { return slept(l, how) }},
		{what + "the recorder runs on", func() (string, error) {
			before, after := l.text(how+"-pid-before"), l.text(how+"-pid-after")
			if before == "" || before == "0" || before != after {
				return "", fmt.Errorf("process %q before, %q after", before, after)
			}
			return "the same process", l.exit(how+"-records", 0)
		}},
		{what + "find over it says so", func() (string, error) { return warned(l, how+"-find", "the machine was suspended for") }},
		{what + "find over it accuses nobody", func() (string, error) { return answers(l, how+"-find") }},
		{what + "the time asleep is not a stop from outside, and no clock that was set", func() (string, error) { return notFooled(l, how+"-find") }},
		{what + "one reading a second, and none for the gap", func() (string, error) { return readings(l, how) }},
		{what + "it works no more than before, once it has begun again", func() (string, error) { return work(l, how) }},
		{what + "memory", func() (string, error) {
			before, after := fields(l.text(how + "-memory-before"))["VmRSS"], fields(l.text(how + "-memory-after"))["VmRSS"]
			if before == 0 || after == 0 || after > 1.3*before+8192 {
				return "", fmt.Errorf("%.0f kB before, %.0f kB after", before, after)
			}
			return fmt.Sprintf("%.1f MB before, %.1f MB after", before/1024, after/1024), nil
		}},
		{what + "the journal names it once", func() (string, error) {
			text := l.text(how + "-journal")
			if n := strings.Count(text, "suspended"); n != 1 {
				return "", fmt.Errorf("%d lines: %s", n, tail(text))
			}
			return line(text, "suspended"), nil
		}},
	}
	if how == "mem" { // the clock stops, so that the recorder begins again
		checks = append(checks, check{what + "the coverage names the gap", func() (string, error) { return gap(l, how+"-find") }})
	}
	return checks
}

// slept wants the wall clock to have gone on, and prints what the other clocks did.
func slept(l life, how string) (string, error) {
	before, after := fields(l.text(how+"-clocks-before")), fields(l.text(how+"-clocks-after"))
	wall, boot, mono := after["wall"]-before["wall"], after["boot"]-before["boot"], after["monotonic"]-before["monotonic"]
	if err := l.exit(how+"-sleep", 0); err != nil {
		return "", err
	}
	if wall < asleep-2 || math.IsNaN(wall) {
		return "", fmt.Errorf("the wall clock went on by %.1f s only", wall)
	}
	return fmt.Sprintf("wall clock %.1f s, CLOCK_BOOTTIME %.1f s, CLOCK_MONOTONIC %.1f s", wall, boot, mono), nil
}

// work compares the CPU time of the unit in 20 s before the suspend, right after it and a while later.
func work(l life, how string) (string, error) {
	before, err := l.number(how + "-cpu-before")
	after, err2 := l.number(how + "-cpu-after")
	later, err3 := l.number(how + "-cpu-later")
	if err := errors.Join(err, err2, err3); err != nil {
		return "", err
	}
	text := fmt.Sprintf("%.1f s of CPU time in 20 s before, %.1f s in the 20 s after, in which the probes may start again, %.1f s in 20 s later", before/1e6, after/1e6, later/1e6)
	if later > 1.5*before+8e6 { // a judgement of every five minutes may be in it
		return "", errors.New(text)
	}
	return text, nil
}

// warned wants a warning of a verdict.
func warned(l life, name, words string) (string, error) {
	d, err := l.document(name)
	if err != nil {
		return "", err
	}
	for _, w := range d.Warnings {
		if strings.Contains(w, words) {
			return w, nil
		}
	}
	return "", fmt.Errorf("none of its warnings has %q: %s", words, strings.Join(d.Warnings, "; "))
}

// notFooled wants no entry that takes the time asleep for a stop of the machine.
func notFooled(l life, name string) (string, error) {
	d, err := l.document(name)
	if err != nil {
		return "", err
	}
	if text, err := warned(l, name, "wall clock was set"); err == nil {
		return "", errors.New(text)
	}
	for _, e := range d.Verdict {
		if e.Suspect != "machine-paused" || e.State == "cleared" {
			continue
		}
		for _, one := range e.Evidence {
			if one.Side == "for" && one.Value != nil && *one.Value >= asleep-3 {
				return "", fmt.Errorf("%s: %s", e.State, one.Text)
			}
		}
	}
	return "neither", nil
}

// gap wants the coverage of a verdict to name a time that was not recorded.
func gap(l life, name string) (string, error) {
	d, err := l.document(name)
	if err != nil {
		return "", err
	}
	for _, c := range d.Coverage {
		if strings.Contains(c.Why, "nothing was recorded from") {
			if c.State == "ok" {
				return "", fmt.Errorf("%s is ok, and %s", c.Probe, c.Why)
			}
			return c.Probe + ": " + c.State + ", " + c.Why, nil
		}
	}
	return "", errors.New("no measure's coverage names the gap")
}

// readings wants the counter of context switches to have a reading about each second, and
// none that belongs to the time asleep.
func readings(l life, how string) (string, error) {
	at := sampleTimes(l.text(how + "-samples"))
	if len(at) < 20 {
		return "", fmt.Errorf("%d readings", len(at))
	}
	longest, pairs := 0.0, 0
	for i := 1; i < len(at); i++ {
		d := at[i] - at[i-1]
		longest = max(longest, d)
		if d < 0.3 {
			pairs++
		}
	}
	text := fmt.Sprintf("%d readings in %.0f s, the longest time between two is %.1f s, %d pairs closer than 0.3 s", len(at), at[len(at)-1]-at[0], longest, pairs)
	if longest < asleep-3 || pairs > 3 {
		return "", errors.New(text)
	}
	return text, nil
}

// sampleTimes reads the times of a series that snag show --table samples printed, s.
func sampleTimes(text string) (out []float64) {
	for _, point := range strings.Split(text, `"T":`)[1:] {
		digits, _, _ := strings.Cut(point, ",")
		if ns, err := strconv.ParseFloat(digits, 64); err == nil {
			out = append(out, ns/1e9)
		}
	}
	return out
}
