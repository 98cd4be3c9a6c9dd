package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The bound: from 60 MB, the goal of docs/record.md, this slope reaches the 200 MB of --memory, at which
// the recorder exits, in a day. A slope that is real and smaller shows in a longer run.
const (
	mostPerHour = (200.0 - 60.0) / 24 // MB
	mostUsual   = 60.0                // MB, the median
)

const header = "time     resident (median, most)  anonymous  in use   CPU     ring      lost  judgements"

// line says what the last samples were, since the line before.
func line(all []sample) string {
	last := all[len(all)-1]
	first := max(0, len(all)-1-int(5*time.Minute/sampleEach))
	part := all[first:]
	var cpu float64
	if took := last.at - part[0].at; took > 0 {
		cpu = 100 * float64(last.cpu-part[0].cpu) / float64(took)
	}
	r := values(part, func(s sample) float64 { return s.resident })
	return fmt.Sprintf("%-8s %5.1f MB (%5.1f, %5.1f)  %5.1f MB   %4.1f MB  %4.2f %%  %6.2f MB  %4.0f  %4.0f",
		last.at.Round(time.Second), last.resident, median(r), slices.Max(r), last.anonymous, last.live, cpu, last.ring, last.lost, last.judgements)
}

// verdict holds the samples after the settling time against the bounds.
func verdict(all []sample, settle time.Duration, gaps []string) error {
	var errs []error
	if len(gaps) > 0 {
		errs = append(errs, fmt.Errorf("the ring has gaps: %s", strings.Join(gaps, "; ")))
	}
	after := slices.DeleteFunc(slices.Clone(all), func(s sample) bool { return s.at < settle })
	if len(after) < leastSamples {
		return errors.Join(append(errs, fmt.Errorf("memory was not judged: %d samples after %s, it takes %d: run it longer (-for)", len(after), settle, leastSamples))...)
	}
	r := values(after, func(s sample) float64 { return s.resident })
	grows, usual := slope(after), median(r)
	fmt.Printf("resident memory after %s: median %.1f MB, most %.1f MB; slope %+.2f MB an hour, at most %.1f\n", settle, usual, slices.Max(r), grows, mostPerHour)
	if grows > mostPerHour {
		errs = append(errs, fmt.Errorf("the recorder's memory grows by %.1f MB an hour, more than %.1f", grows, mostPerHour))
	}
	if usual > mostUsual {
		errs = append(errs, fmt.Errorf("the recorder's memory is %.1f MB (median), more than %.0f", usual, mostUsual))
	}
	return errors.Join(errs...)
}

// leastSamples are ten minutes.
const leastSamples = 60

// slope is that of resident memory, MB an hour: the median of the slopes between samples that are half of
// the time apart (Theil and Sen), so that single peaks do not count.
func slope(all []sample) float64 {
	half := len(all) / 2
	var out []float64
	for i := 0; i+half < len(all); i++ {
		for j := i + half; j < len(all); j++ {
			out = append(out, (all[j].resident-all[i].resident)/(all[j].at-all[i].at).Hours())
		}
	}
	return median(out)
}

func median(all []float64) float64 {
	s := slices.Sorted(slices.Values(all))
	return s[len(s)/2]
}

func values(all []sample, of func(sample) float64) (out []float64) {
	for _, s := range all {
		out = append(out, of(s))
	}
	return out
}
