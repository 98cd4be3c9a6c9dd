package page

import (
	"strings"

	"snag/recording"
)

// experiments has one row for each experiment of snag eliminate.
func (b *builder) experiments() Table {
	t := Table{Name: "experiments", Title: "Experiments", Note: "what snag eliminate tried on the service, and which suspects it struck off", Columns: []Column{
		{"at", "clock"}, {"target", "text"}, {"experiment", "text"}, {"number", "count"}, {"unit", "text"}, {"of", "text"}, {"all that it showed", "text"},
		{"found", "text"}, {"open", "text"}, {"ruled out", "text"}, {"not done", "text"},
	}}
	for _, row := range b.r.Experiments {
		in := map[string][]string{}
		for _, s := range row.Suspects {
			in[s.State] = append(in[s.State], s.Suspect)
		}
		list := func(state string) string { return strings.Join(in[state], ", ") }
		var number any
		if row.Number != nil {
			number = round(*row.Number)
		}
		t.Rows = append(t.Rows, []any{b.since(row.T), row.Target, row.What, number, row.Unit, row.Of, row.Shows,
			list(recording.FoundBy), list(recording.LeftOpen), list(recording.StruckOff), row.NotDone})
	}
	return t
}
