package agent

import (
	"context"
	"fmt"
	"strings"

	"snag/internal/mcp"
	"snag/report"
	"snag/suspects"
)

type catalogueIn struct {
	Name string `json:"name,omitempty" doc:"a suspect's name, as listen-overflow: its whole page; without it all suspects, a line each"`
}

// Catalogue is what snag can find.
type Catalogue struct {
	Suspects []Suspect `json:"suspects"`
}

// Suspect is a cause that snag knows.
type Suspect struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Page  string `json:"page,omitempty" doc:"Markdown: what it needs, what speaks for and against it, its remedy, how to see it by hand"`
}

func (d *desk) suspects() mcp.Tool {
	return tool[catalogueIn, Catalogue]("suspects", "What snag can find",
		`The catalogue of causes: what each needs to be seen, what speaks for and against it, its remedy, how to see it by hand (snag suspects).`,
		func(_ context.Context, in catalogueIn, _ mcp.Progress) (r mcp.Result, err error) {
			var c Catalogue
			if in.Name == "" {
				var b strings.Builder
				fmt.Fprintf(&b, "%d suspects; with a name: its page\n", len(suspects.All))
				if err := report.WriteCatalogue(&b, suspects.All); err != nil {
					return r, err
				}
				for _, s := range suspects.All {
					c.Suspects = append(c.Suspects, Suspect{s.Name, s.Title, ""})
				}
				r.Text = b.String()
			} else {
				s := suspects.ByName(in.Name)
				if s == nil {
					return r, fmt.Errorf("no suspect is called %q: without a name, this tool lists them", cut(in.Name, 80))
				}
				r.Text = report.Suspect(s)
				c.Suspects = []Suspect{{s.Name, s.Title, r.Text}}
			}
			r.Structured, err = written(c)
			return r, err
		})
}
