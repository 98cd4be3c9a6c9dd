package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"snag/probes"
	"snag/recording"
	"snag/scene"
	"snag/verdict"
)

// remaining judges what was recorded so far, and says which processes the costly
// probes shall look at in the rest of the window. told are those that the user was
// told of already.
func remaining(dir string, told map[int]bool, say func(string)) []probes.Look {
	r, err := recording.OpenOwn(dir)
	if err != nil {
		say(fmt.Sprintf("no closer look: %v", err))
		return nil
	}
	v := verdict.Judge(r)
	looks := verdict.Closer(v)
	for _, pid := range r.Manifest.Target.PIDs {
		if !slices.ContainsFunc(looks, func(l verdict.Look) bool { return l.PID == pid }) {
			looks = append(looks, verdict.Look{PID: pid, Why: "asked for"})
		}
	}
	var out []probes.Look
	for _, l := range looks {
		p := v.Scene.Process(l.PID)
		if seenToEnd(r, p) {
			continue // its number may be another's by now
		}
		if p != nil && !told[l.PID] && len(told) < probes.Closest {
			told[l.PID] = true
			say(fmt.Sprintf("a closer look at %s[%d]: %s", p.Last().Comm, l.PID, l.Why))
		}
		look := probes.Look{PID: l.PID, Why: l.Why}
		if p != nil {
			look.Start = p.First().Start
		}
		out = append(out, look)
	}
	return out
}

// seenToEnd reports whether a process was seen to end.
func seenToEnd(r *recording.Recording, p *scene.Process) bool {
	return p != nil && slices.ContainsFunc(r.Events, func(e recording.Event) bool {
		return e.Kind == recording.EventProcessGone && e.Subject.PID == p.Subject.PID && e.T >= p.Last().T
	})
}

// parseShare reads "2%" or "0.02".
func parseShare(text string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	if err != nil || v < 0 || v > 1 || v != v {
		return 0, fmt.Errorf("a share of the machine's CPU time, as 2%% or 0.02")
	}
	return v, nil
}
