package hosts

import (
	"fmt"
	"io"
	"strings"
	"time"

	"snag/internal/shown"
	"snag/internal/units"
)

// Standing is what can be said of all hosts together.
type Standing string

// The standings.
const (
	Found     Standing = "culprit"          // a cause is named
	Unknown   Standing = "no cause proved"  // hosts are affected, and nobody is named
	NotSeen   Standing = "not seen"         // none that was seen is affected, and some were not seen
	Well      Standing = "no host affected" // all that ever had a recorder were seen
	mostWays           = 3
	mostNamed          = 6
)

// Standing is what is known of the hosts that were asked for.
func (f *Fleet) Standing(causes []Cause) Standing {
	for _, c := range causes {
		if c.proved() {
			return Found
		}
	}
	switch {
	case len(causes) > 0:
		return Unknown
	case len(f.unseen()) > 0 || len(f.Warnings) > 0 || len(f.missing()) > 0:
		return NotSeen
	case f.onlyExporters():
		return NotSeen
	}
	return Well
}

// unseen are the hosts of which nothing is known now, and why.
func (f *Fleet) unseen() (out []string) {
	for _, name := range f.names() {
		switch h := f.Hosts[name]; {
		case !h.Chosen || h.never():
		case h.Gone:
			out = append(out, fmt.Sprintf("%s: its recorder has sent nothing since %s", name, clock(h.Seen)))
		case !h.Recording:
			out = append(out, fmt.Sprintf("%s: its recorder is paused, as its disk is full", name))
		}
	}
	return append(out, f.mixed()...)
}

func clock(t time.Time) string { return t.UTC().Format("15:04:05 UTC") }

// chosen counts the hosts that were asked for, and those that are affected.
func (f *Fleet) chosen() (all, affected int) {
	for _, h := range f.Hosts {
		if h.Chosen {
			all++
			if h.Affected() {
				affected++
			}
		}
	}
	return all, affected
}

// WriteText writes what holds up which hosts.
func (f *Fleet) WriteText(w io.Writer, store string, causes []Cause) error {
	out := &strings.Builder{}
	all, affected := f.chosen()
	fmt.Fprintf(out, "%s · %s, %d affected", store, units.Plural(all, "host"), affected)
	if n := f.unrecorded(); n > 0 {
		fmt.Fprintf(out, ", %s not seen (node_exporter only)", units.Count(float64(n)))
	}
	if f.Source != "" {
		fmt.Fprintf(out, ", %d of %d listed not seen", len(f.Missing), f.Listed)
	}
	fmt.Fprintf(out, " · %s\n", clock(f.At))
	for _, line := range f.missing() {
		fmt.Fprintf(out, "not seen   %s\n", shown.Text(line))
	}
	fmt.Fprintln(out)
	f.writeStanding(out, causes, affected)
	for i, c := range causes {
		if i > 0 {
			fmt.Fprintln(out)
		}
		c.write(out, f)
	}
	gap := "\n"
	for _, line := range append(f.unseen(), warned(f.Warnings)...) {
		fmt.Fprintf(out, "%snot seen   %s\n", gap, line)
		gap = ""
	}
	for _, line := range f.wrongClocks() {
		fmt.Fprintf(out, "%sclock      %s\n", gap, line)
		gap = ""
	}
	f.writeSigns(out)
	_, err := io.WriteString(w, out.String())
	return err
}

// writeStanding writes what can be said of all hosts together, where that is not the causes.
func (f *Fleet) writeStanding(out *strings.Builder, causes []Cause, affected int) {
	all, _ := f.chosen()
	never := f.neverRecorded()
	switch f.Standing(causes) {
	case Well:
		if never == 0 {
			fmt.Fprintf(out, "NO HOST AFFECTED, and each was seen\n")
			return
		}
		fmt.Fprintf(out, "NO HOST AFFECTED of %d with a recorder; not seen, as they have none: %d\n", all-never, never)
	case NotSeen:
		where := "below"
		if len(f.unseen())+len(f.Warnings)+never == 0 {
			where = "above"
		}
		if f.onlyExporters() {
			fmt.Fprintf(out, "CAN'T TELL WHO IS AFFECTED: none of these hosts has a recorder of snag\n")
			return
		}
		fmt.Fprintf(out, "NO HOST IS SEEN TO BE AFFECTED, but not all were seen: see %s\n", where)
	case Unknown:
		fmt.Fprintf(out, "NO CAUSE PROVED of what %s suffer from\n", units.Plural(affected, "host"))
	}
}

func warned(all []string) (out []string) {
	for _, text := range all {
		out = append(out, "the store: "+text)
	}
	return out
}

func (c *Cause) write(out *strings.Builder, f *Fleet) {
	switch {
	case c.Suspect != "":
		fmt.Fprintf(out, "CULPRIT on %s  %s\n  %s\n", c.Host, c.Suspect, shown.Text(c.Subject))
	case c.Host == "":
		fmt.Fprintf(out, "CULPRIT  %s, which is on none of these hosts\n", c.Server)
	case c.Unrecorded:
		fmt.Fprintf(out, "CULPRIT  %s on %s, which only node_exporter is on\n", c.Server, c.Host)
	case c.Server != "":
		fmt.Fprintf(out, "NO CAUSE PROVED  %s, where hosts wait for each other\n", c.Host)
	default:
		fmt.Fprintf(out, "NO CAUSE PROVED on %s\n", c.Host)
	}
	var names []string
	for _, v := range c.Victims {
		names = append(names, v.Host)
	}
	if own := len(c.Victims) == 1 && c.Victims[0].Host == c.Host; own {
		fmt.Fprintf(out, "  affects %s itself, since %s\n", c.Host, clock(c.Since))
	} else {
		fmt.Fprintf(out, "  affects %s: %s\n", units.Plural(len(names), "host"), some(names, mostNamed))
	}
	ways, said := 0, map[string]bool{}
	for _, v := range c.Victims {
		if v.Symptom.Name != "" && len(c.Victims) <= mostWays {
			fmt.Fprintf(out, "  %s: %s of %s\n", v.Host, v.Symptom.Name, shown.Text(v.Symptom.Subject))
		}
		if len(v.Way) == 0 || ways == mostWays {
			continue
		}
		ways++
		for _, s := range v.Way {
			if line := s.String(); !said[line] { // the ways of several victims meet
				said[line] = true
				fmt.Fprintf(out, "  %s\n", line)
				f.writeSignsThere(out, s)
			}
		}
	}
	if c.Unrecorded {
		fmt.Fprintf(out, "  next  start snag record on %s: who waits there is not seen\n", c.Host)
	} else if c.Host != "" {
		fmt.Fprintf(out, "  next  on %s: sudo snag incidents; sudo snag find\n", c.Host)
	}
}

func some(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// String is the step in a line.
func (s Step) String() string {
	does := " waits for "
	switch {
	case s.Lost:
		does = " loses packets to or from "
	case s.Stream:
		does = " gets a stream from "
	case s.Why == fails:
		does = " gets errors from "
	}
	text := s.From + does + s.Server
	if s.Behind != "" {
		text += ", which stands for " + s.Behind
	}
	if s.To != "" {
		text += " on " + s.To
	}
	if s.Unrecorded {
		text += " (node_exporter only)"
	}
	if s.Rate > 0 {
		text += fmt.Sprintf(": %.3g answers per second, %s each", s.Rate, units.Short(s.Mean))
	}
	if s.Why != "" && !s.Lost {
		text += " (" + s.Why + ")"
	}
	if s.More > 0 {
		text += fmt.Sprintf(", and for %s for the same cause", units.Plural(s.More, "more server"))
	}
	return text
}
