package report

import "snag/suspects/suspect"

// CatalogueEntry is a suspect as snag suspects --json writes it (docs/json.md).
type CatalogueEntry struct {
	Name     string          `json:"name"`
	Title    string          `json:"title"`
	About    string          `json:"about"`
	Needs    []CatalogueNeed `json:"needs"`
	For      []string        `json:"for"`
	Against  []string        `json:"against"`
	LeadsTo  []CatalogueLead `json:"leads_to"`
	Remedy   *Remedy         `json:"remedy"` // null: none is usual
	Verified string          `json:"verified_by"`
	Next     string          `json:"by_hand"`
}

// CatalogueNeed is a measure that a suspect reads.
type CatalogueNeed struct {
	Measure string   `json:"measure"`
	Or      []string `json:"or"`   // measures of files any of which stands in for it
	Must    bool     `json:"must"` // without it the suspect is not seen
	Why     string   `json:"why"`
}

// CatalogueLead is a suspect or symptom that a suspect leads to, and within how long.
type CatalogueLead struct {
	To     string  `json:"to"`
	Within float64 `json:"within_seconds"`
}

// NewCatalogueEntry is a suspect's entry.
func NewCatalogueEntry(s *suspect.Suspect) CatalogueEntry {
	e := CatalogueEntry{
		Name: s.Name, Title: s.Title, About: s.About, Needs: []CatalogueNeed{}, For: append([]string{}, s.For...), Against: append([]string{}, s.Against...),
		LeadsTo: []CatalogueLead{}, Remedy: remedy(s.Remedy), Verified: s.Verified, Next: s.Next,
	}
	for _, n := range s.Needs {
		e.Needs = append(e.Needs, CatalogueNeed{n.Measure, append([]string{}, s.InFiles[n.Measure]...), n.Must, n.Why})
	}
	for _, l := range s.LeadsTo {
		e.LeadsTo = append(e.LeadsTo, CatalogueLead{l.To, l.Lag.Seconds()})
	}
	return e
}

// NewCatalogue are the entries of all suspects, in their order.
func NewCatalogue(all []*suspect.Suspect) []CatalogueEntry {
	out := []CatalogueEntry{}
	for _, s := range all {
		out = append(out, NewCatalogueEntry(s))
	}
	return out
}
