package report

import (
	"fmt"
	"strings"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/verdict"
)

// Load is what snag's own requests waited for (snag load, snag find --load), and how much of it the service
// that they asked accounts for. Times are seconds; null where nothing was measured.
type Load struct {
	Target      string  `json:"target"`
	Connections int     `json:"connections"`
	RateAsked   float64 `json:"rate_asked"` // requests/s; 0: as many as one open on each connection allows
	Rate        float64 `json:"rate"`       // answers/s
	Asked       uint64  `json:"asked"`
	Answered    uint64  `json:"answered"`
	Behind      uint64  `json:"behind"` // due, and not sent at the end
	Lost        uint64  `json:"lost"`
	// NotTheServices is why the figures are not the service's; "": they are.
	NotTheServices string     `json:"not_the_services"`
	SinceDue       *Quantiles `json:"since_due"`
	SinceSent      *Quantiles `json:"since_sent"`
	// Parts are of an answer on average, SlowParts of one in a hundred.
	Parts     *LoadParts `json:"parts"`
	SlowParts *LoadParts `json:"slow_parts"`
	Server    *string    `json:"server"`   // null: it was not seen
	NotSeen   string     `json:"not_seen"` // why; "": it was
	// AtServer is for how long the service had a request open on average, Share what part of the time since it
	// was sent is accounted for there, off by Within at the most (95 %).
	AtServer *float64 `json:"at_server"`
	Share    *float64 `json:"share"`
	Within   *float64 `json:"within"`
	Spent    []Spent  `json:"spent"`
	Text     string   `json:"text"` // all of it in a paragraph
}

// Quantiles of a time.
type Quantiles struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P99  float64 `json:"p99"`
	Max  float64 `json:"max"`
}

// LoadParts add up to the time since a request was due.
type LoadParts struct {
	Waiting float64 `json:"waiting"` // for a free connection
	OwnLag  float64 `json:"own_lag"` // sent late by snag itself
	Answer  float64 `json:"answer"`  // since it was sent
}

// Spent is a part of AtServer.
type Spent struct {
	Account string  `json:"account"`
	Where   string  `json:"where,omitempty"`
	InLine  bool    `json:"in_line"` // no thread, or no connection to where, was free for it
	Seconds float64 `json:"seconds"`
	Text    string  `json:"text"`
}

func loads(v *verdict.Verdict) (out []Load) {
	if v.Ledger == nil {
		return nil
	}
	for _, l := range v.Ledger.Loads {
		row := l.Row
		one := Load{
			Target: row.Target, Connections: row.Connections, RateAsked: row.Rate, Rate: answersASecond(row), Asked: row.Asked, Answered: row.Answered, Behind: row.Behind, Lost: lostAll(row),
			NotTheServices: row.NotTheServices, SinceDue: quantilesOf(row.SinceDue), SinceSent: quantilesOf(row.SinceSent), Parts: partsOf(row.Parts), SlowParts: partsOf(row.SlowParts),
			NotSeen: l.NotSeen, Spent: []Spent{}, Text: strings.Join(loadText(v, l), ". ") + ".",
		}
		if share, ok := l.Share(); ok {
			name := v.Scene.Name(l.Server.Subject)
			one.Server, one.AtServer, one.Share, one.Within = &name, &l.AtServer, &share, l.Within
		}
		for _, s := range l.Spent {
			one.Spent = append(one.Spent, Spent{string(s.Account), s.Where, s.InLine, s.Seconds, s.Words()})
		}
		out = append(out, one)
	}
	return out
}

func quantilesOf(q *recording.Quantiles) *Quantiles {
	if q == nil {
		return nil
	}
	return &Quantiles{q.Mean, q.P50, q.P99, q.Max}
}

func partsOf(p *recording.LoadParts) *LoadParts {
	if p == nil {
		return nil
	}
	return &LoadParts{p.Waiting, p.OwnLag, p.Answer}
}

func answersASecond(row recording.Load) float64 {
	if length := row.End.Sub(row.T).Seconds(); length > 0 {
		return float64(row.Answered) / length
	}
	return 0
}

func lostAll(row recording.Load) (n uint64) {
	for _, lost := range row.Lost {
		n += lost
	}
	return n
}

// loadText are the sentences on a load, without their stops: what came of it, what its requests waited for, and what
// of that the service accounts for.
func loadText(v *verdict.Verdict, l ledger.Load) (out []string) {
	row := l.Row
	asked := ""
	if row.Rate > 0 {
		asked = fmt.Sprintf(" of %s asked", units.Count(row.Rate))
	}
	first := fmt.Sprintf("%s: %s answers per second%s on %s", row.Target, units.Count(answersASecond(row)), asked, units.Plural(row.Connections, "connection"))
	if n := lostAll(row) + row.Behind; n > 0 {
		first += fmt.Sprintf(", %s not answered", units.Count(float64(n)))
	}
	if row.Parts == nil {
		return []string{first}
	}
	if q := row.SinceDue; q != nil {
		first += fmt.Sprintf(", %s on average since due (p99 %s)", took(q.Mean), took(q.P99))
	}
	if q := row.SinceSent; q != nil {
		first += fmt.Sprintf(", %s since sent (p99 %s)", took(q.Mean), took(q.P99))
	}
	out = append(out, first)
	if row.NotTheServices != "" {
		out = append(out, "Not the service's figures: "+row.NotTheServices+"; they clear no suspect and accuse none")
	}
	p := row.Parts
	if row.Rate > 0 {
		out = append(out, fmt.Sprintf("Of %s since due, snag itself was late by %s, the request waited %s for a free connection and %s for the answer", took(p.Whole()), took(p.OwnLag), took(p.Waiting), took(p.Answer)))
		if s := row.SlowParts; s != nil && s.Whole() >= 2*p.Whole() {
			out = append(out, fmt.Sprintf("Of the slowest 1 in 100: %s, %s and %s of %s", took(s.OwnLag), took(s.Waiting), took(s.Answer), took(s.Whole())))
		}
	}
	return append(out, accountedFor(v, l))
}

// leastWithin is the least that is written of what a share may be off, per cent.
const leastWithin = 0.1

// accountedFor says how much of the time since requests were sent is accounted for at the service.
func accountedFor(v *verdict.Verdict, l ledger.Load) string {
	share, ok := l.Share()
	if !ok {
		return fmt.Sprintf("What passed at the service is not seen: %s", l.NotSeen)
	}
	text := fmt.Sprintf("Of %s for the answer, %s (%.0f %%", took(l.Row.Parts.Answer), took(l.Accounted()), 100*share)
	if l.Within != nil {
		text += fmt.Sprintf(", ± %.1f %%", max(leastWithin, 100**l.Within))
	}
	text += fmt.Sprintf(") are accounted for at %s", v.Scene.Name(l.Server.Subject))
	var parts []string
	for _, s := range l.Spent {
		if s.Seconds >= leastShare*l.AtServer && s.Account != ledger.Unseen {
			parts = append(parts, took(s.Seconds)+" "+s.Words())
		}
	}
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	if unseen := l.AtServer - l.Accounted(); unseen >= leastShare*l.AtServer {
		text += fmt.Sprintf("; %s more passed there, not seen at what", took(unseen))
	}
	if between := l.Between(); between >= leastShare*l.Row.Parts.Answer {
		text += fmt.Sprintf("; %s passed on the way and until snag had read the answer", took(between))
	}
	return text
}

// loadHead says in a line, before any answer, what came of the load.
func (p *page) loadHead(v *verdict.Verdict) {
	if c, ok := v.Recording.Measured(recording.MeasureLoad); !ok && c.State == recording.CoverageFailed {
		p.item("", p.yellow("! "), "  ", "the load failed: "+c.Why)
	}
	if v.Ledger == nil {
		return
	}
	for _, l := range v.Ledger.Loads {
		row := l.Row
		text := fmt.Sprintf("load of %s: %s answers per second", row.Target, units.Count(answersASecond(row)))
		switch {
		case row.NotTheServices != "":
			p.item("", p.yellow("! "), "  ", text+", and its figures are not the service's: "+row.NotTheServices)
			continue
		case row.Parts != nil:
			text += fmt.Sprintf(", %s on average since due", took(row.Parts.Whole()))
		}
		if share, ok := l.Share(); ok {
			text += fmt.Sprintf("; %.0f %% of the time for an answer is accounted for at the service", 100*share)
		}
		p.item("", "", "  ", p.dim(text))
	}
}

// load prints what the load's requests waited for.
func (p *page) load(v *verdict.Verdict) {
	if v.Ledger == nil {
		return
	}
	for _, l := range v.Ledger.Loads {
		p.gap()
		p.item("", p.dim(fmt.Sprintf("%-*s", margin, "load")), strings.Repeat(" ", margin), strings.Join(loadText(v, l), ". "))
	}
}
