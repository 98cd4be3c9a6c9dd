package compared

import (
	"fmt"
	"strings"

	"snag/compare"
	"snag/internal/shown"
	"snag/internal/units"
)

// lost says of a stream what B has of it no more.
func lost(l compare.Lost) string {
	why := ""
	if l.Why != "" {
		why = " (" + l.Why + ")"
	}
	had := number(l.FPS, "") + " frames per second in A"
	name := "stream " + l.Name
	switch {
	case l.Since > 0:
		return fmt.Sprintf("%s: no frame in the last %s of B%s, %s", name, units.Lasting(l.Since), why, had)
	case l.URLB == "":
		return fmt.Sprintf("%s is not in B, %s", name, had)
	}
	return fmt.Sprintf("%s gave no frame in B%s, %s", name, why, had)
}

// streamWorse says which figure of a stream got worse.
func (s *Shown) streamWorse(a compare.Amount) string {
	was := s.was()
	b, before := figure(a, a.Change.B), shortFigure(a, a.Change.A)
	name := "stream " + a.Stream
	if s.Together {
		name = s.NameB
	}
	switch a.What {
	case "lateness":
		return fmt.Sprintf("%s: frames come %s late, %s %s", name, b, before, was)
	case "frozen":
		return fmt.Sprintf("%s: frozen for %s per second, %s %s", name, b, before, was)
	}
	return fmt.Sprintf("%s: %s, %s %s", name, b, before, was)
}

// figure is a stream's figure with its unit.
func figure(a compare.Amount, v float64) string {
	switch {
	case a.Unit == "bit":
		return fmt.Sprintf("%.0f kb/s", v/1000)
	case a.What == "frames":
		return fmt.Sprintf("%.3g frames per second", v)
	}
	return units.Lasting(v)
}

// figureNames are what the table of streams calls the figures.
var figureNames = map[string]string{
	"frames": "frames per second", "bit rate": "bit rate", "lateness": "lateness of frames",
	"GOP": "GOP (not judged)", "frozen": "frozen, per s",
}

// streams are all figures of those in both, and those that B has no more.
func (s *Shown) streams(b *strings.Builder, width int) {
	for i, l := range s.Lost {
		if i == most {
			fmt.Fprintf(b, "\nand %d more streams that are missing in B (--json)\n", len(s.Lost)-most)
			break
		}
		if i > 0 { // the first is in the first line
			b.WriteString("\n" + shown.Wrapped(lost(l), width))
		}
	}
	for i, st := range s.Streams {
		if i == most {
			fmt.Fprintf(b, "\nand %d more streams (--json)\n", len(s.Streams)-most)
			return
		}
		fmt.Fprintf(b, "\n%-24s %12s %12s  %s\n", "Stream "+inside(st.Name, width-60), "A", "B", "change")
		for _, f := range st.Figures {
			change := "none beyond chance"
			switch {
			case f.Change.Differs() && f.Change.Low > 0:
				change = changeOf(f.Change)
			case f.Change.Differs():
				change = "changed"
			}
			fmt.Fprintf(b, "  %-22s %12s %12s  %s\n", figureNames[f.What], shortFigure(f, f.Change.A), shortFigure(f, f.Change.B), change)
		}
	}
}

func shortFigure(a compare.Amount, v float64) string {
	if a.What == "frames" {
		return fmt.Sprintf("%.3g", v)
	}
	return figure(a, v)
}
