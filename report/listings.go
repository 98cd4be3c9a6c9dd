package report

import (
	"encoding/json"
	"io"

	"snag/internal/shown"
	"snag/recording"
	"snag/suspects/suspect"
)

// Contents is what is in a recording, as JSON (snag show --json).
type Contents struct {
	Manifest recording.Manifest   `json:"manifest"` // as in its file: times are ns since 1970
	Damage   []string             `json:"damage"`   // what could not be read
	Coverage []recording.Coverage `json:"coverage"`
	Rows     map[string]int       `json:"rows"` // of each table that has any
	Series   int                  `json:"series"`
	Samples  int                  `json:"samples"`
	Events   map[string]int       `json:"events"` // by their kind
}

// NewContents counts what is in a recording.
func NewContents(r *recording.Recording) Contents {
	c := Contents{
		Manifest: r.Manifest, Damage: append([]string{}, r.Damage...), Coverage: append([]recording.Coverage{}, r.Coverage...),
		Rows: map[string]int{}, Series: len(r.Series), Events: map[string]int{},
	}
	for _, name := range recording.TableNames() {
		n := 0
		r.EachRow(name, func(recording.Row) bool { n++; return true })
		if n > 0 {
			c.Rows[name] = n
		}
	}
	for _, s := range r.Series {
		c.Samples += len(s.Points)
	}
	for _, e := range r.Events {
		c.Events[e.Kind]++
	}
	return c
}

// Listed is a suspect of the catalogue, as JSON (snag suspects --json).
type Listed struct {
	Name     string       `json:"name"`
	Title    string       `json:"title"`
	About    string       `json:"about"`
	Needs    []ListedNeed `json:"needs"`
	For      []string     `json:"for"`
	Against  []string     `json:"against"`
	LeadsTo  []ListedLead `json:"leads_to"`
	Remedy   *Remedy      `json:"remedy"`
	Verified string       `json:"verified_by"`
}

// ListedNeed is a measure that a suspect reads.
type ListedNeed struct {
	Measure string `json:"measure"`
	Must    bool   `json:"must"` // without it the suspect is not seen
	Why     string `json:"why"`
}

// ListedLead is a suspect or a symptom that a suspect leads to, and within what time.
type ListedLead struct {
	To      string  `json:"to"`
	Seconds float64 `json:"within_seconds"`
}

// NewListed is a suspect's entry.
func NewListed(s *suspect.Suspect) Listed {
	l := Listed{
		Name: s.Name, Title: s.Title, About: s.About, Needs: []ListedNeed{}, LeadsTo: []ListedLead{}, Verified: s.Verified, Remedy: remedy(s.Remedy),
		For: append([]string{}, s.For...), Against: append([]string{}, s.Against...),
	}
	for _, n := range s.Needs {
		l.Needs = append(l.Needs, ListedNeed{n.Measure, n.Must, n.Why})
	}
	for _, to := range s.LeadsTo {
		l.LeadsTo = append(l.LeadsTo, ListedLead{to.To, to.Lag.Seconds()})
	}
	return l
}

// WriteIndented writes a document for people and programs: indented, without what a terminal would obey.
func WriteIndented(w io.Writer, document any) error {
	enc := json.NewEncoder(shown.JSON(w))
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(document)
}
