package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"snag/internal/shown"
	"snag/internal/sorting"
	"snag/internal/units"
	"snag/recording"
)

// showTimeline prints what a recording tells of one subject, in the order of time:
// "published … freeze … unpublished", across files and hosts.
func showTimeline(out io.Writer, dir, subject string) error {
	r, err := recording.Open(dir)
	if err != nil {
		return err
	}
	lines := timelineOf(r, subject)
	out = shown.To(out)
	if len(lines) == 0 {
		_, err := fmt.Fprintf(out, "timeline of %s: nothing in these files is about it\n\n", subject)
		return err
	}
	left := 0
	if len(lines) > mostTimeline {
		left = len(lines) - mostTimeline
		lines = append(lines[:mostTimeline/2:mostTimeline/2], lines[len(lines)-mostTimeline/2:]...)
	}
	shown.Fprintf(out, "timeline of %s\n", subject)
	for i, l := range lines {
		if left > 0 && i == mostTimeline/2 {
			shown.Fprintf(out, "  … %d more (snag show --table events %s)\n", left, dir)
		}
		fmt.Fprintln(out, "  "+shown.Text(l))
	}
	_, err = fmt.Fprintln(out)
	return err
}

// mostTimeline lines are shown, the first and the last.
const mostTimeline = 200

// timelineOf are the events about a subject, a line each.
func timelineOf(r *recording.Recording, subject string) []string {
	var all []recording.Event
	for _, e := range r.Events {
		if isAbout(e, subject) {
			all = append(all, e)
		}
	}
	sorting.StableBy(all, func(a, b recording.Event) int { return cmp.Compare(a.T, b.T) })
	days := len(all) > 0 && all[0].T.Wall().YearDay() != all[len(all)-1].T.Wall().YearDay()
	var out []string
	for _, e := range all {
		form := "15:04:05.000"
		if days {
			form = "2006-01-02 15:04:05.000"
		}
		line := e.T.Wall().UTC().Format(form) + "  " + whatHappened(e)
		if where := whereTold(e); where != "" {
			line += "  [" + where + "]"
		}
		out = append(out, line)
	}
	return out
}

// isAbout reports whether an event is about what a person calls so: a stream by its name
// or the last part of it, a peer by its address, a process by its name.
func isAbout(e recording.Event, subject string) bool {
	s := e.Subject
	for _, name := range []string{s.Name, s.Remote, recording.Host(s.Remote), s.Comm, e.Attrs["process"], e.Attrs["stream"], e.Attrs["peer"], e.Attrs["host"]} {
		if name != "" && (name == subject || name[strings.LastIndexByte(name, '/')+1:] == subject) {
			return true
		}
	}
	return false
}

func whatHappened(e recording.Event) string {
	text := e.Kind
	if what := e.Attrs["what"]; what != "" && e.Kind == recording.EventLogLine {
		text = what
		if e.Value > 1 {
			text += fmt.Sprintf(" (%d lines)", int(e.Value))
		}
		return text
	}
	if e.End > e.T {
		text += " for " + units.Seconds(e.End.Sub(e.T))
	}
	for _, name := range []string{"what", "from", "to", "pause", "cause", "why"} {
		if v := e.Attrs[name]; v != "" {
			text += ", " + v
		}
	}
	return text
}

// whereTold is the host and the file that told it.
func whereTold(e recording.Event) string {
	var parts []string
	for _, name := range []string{"host", "process", "file", "layer"} {
		if v := e.Attrs[name]; v != "" {
			parts = append(parts, v)
		}
	}
	if len(parts) == 0 && e.Subject.Comm != "" {
		parts = append(parts, e.Subject.Comm)
	}
	return strings.Join(parts, " ")
}
