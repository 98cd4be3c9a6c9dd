package report

import (
	"fmt"
	"io"
	"strings"

	"snag/internal/units"
	"snag/suspects/suspect"
)

// WriteCatalogue lists the suspects, a line each.
func WriteCatalogue(w io.Writer, all []*suspect.Suspect) error {
	for _, s := range all {
		if _, err := fmt.Fprintf(w, "%-26s%s\n", s.Name, s.Title); err != nil {
			return err
		}
	}
	return nil
}

// Suspect is one suspect's page, as Markdown that reads well as plain text:
// snag suspects NAME prints it, and docs/suspects holds it.
func Suspect(s *suspect.Suspect) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s. %s\n", s.Name, strings.TrimSuffix(s.Title, "."), s.About)
	b.WriteString("\n## Needs\n\n")
	for _, n := range s.Needs {
		must := "adds to it"
		if n.Must {
			must = "without it: not seen"
		}
		fmt.Fprintf(&b, "- `%s`", n.Measure)
		for _, other := range s.InFiles[n.Measure] {
			fmt.Fprintf(&b, " or `%s`", other)
		}
		fmt.Fprintf(&b, " (%s): %s\n", must, n.Why)
	}
	if len(s.InTrace) > 0 {
		fmt.Fprintf(&b, "- or, instead of those that it must have, a trace of the calls (`snag read` of what strace wrote): `%s`\n", strings.Join(s.InTrace, "`, `"))
	}
	list(&b, "Speaks for it", s.For)
	list(&b, "Speaks against it, and traps", s.Against)
	if len(s.LeadsTo) > 0 {
		b.WriteString("\n## Leads to\n\n")
		for _, l := range s.LeadsTo {
			fmt.Fprintf(&b, "- %s, within %s\n", l.To, units.Seconds(l.Lag))
		}
	}
	b.WriteString("\n## Remedy\n\n")
	if s.Remedy.Now != "" {
		fmt.Fprintf(&b, "- now, for example: `%s`\n", s.Remedy.Now)
	}
	if s.Remedy.Permanently != "" {
		fmt.Fprintf(&b, "- permanently: %s\n", s.Remedy.Permanently)
	}
	if s.Remedy.Program != "" {
		fmt.Fprintf(&b, "- in the program: %s\n", s.Remedy.Program)
	}
	fmt.Fprintf(&b, "\nVerified by: %s.\n", s.Verified)
	if s.Next != "" {
		fmt.Fprintf(&b, "\n## To see it by hand\n\n    %s\n", s.Next)
	}
	return b.String()
}

func list(b *strings.Builder, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n", title)
	for _, l := range lines {
		fmt.Fprintf(b, "- %s\n", l)
	}
}
