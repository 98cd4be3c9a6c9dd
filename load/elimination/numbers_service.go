package elimination

import (
	"fmt"
	"strings"

	"snag/internal/units"
)

func handshakeNumber(m *Measures) string {
	switch {
	case m.TLS == nil:
		return ""
	case m.TLS.N == 0:
		return fmt.Sprintf("all of %d failed: %s", m.TLS.Failed, m.TLS.Why)
	}
	return fmt.Sprintf("half within %s, %d failed", short(m.TLS.P50), m.TLS.Failed)
}

func newNumber(m *Measures) string {
	if m.Fresh == nil || m.Fresh.Whole.N == 0 || m.kept() == 0 {
		return ""
	}
	return fmt.Sprintf("%s and %s", short(m.Fresh.Login+m.Fresh.Answer), short(m.kept()))
}

func optionsNumber(m *Measures) string {
	var parts []string
	for _, o := range m.Options {
		if len(o.Pairs) > 0 {
			last := o.Pairs[len(o.Pairs)-1]
			parts = append(parts, fmt.Sprintf("half within %s, with %s within %s", short(last[0]), o.Name, short(last[1])))
		}
	}
	if len(parts) == 0 {
		return "not needed: the answers are too fast"
	}
	return strings.Join(parts, "; ")
}

func nullNumber(m *Measures) string {
	if m.Null == nil {
		return ""
	}
	switch {
	case m.Null.Null == nil:
		return fmt.Sprintf("half within %s; no request that does nothing is known", short(m.Null.Asked.P50))
	case m.Null.Null.N == 0:
		return m.DoesNothing + ": no answer"
	}
	return fmt.Sprintf("%s: half within %s, this one %s", m.DoesNothing, short(m.Null.Null.P50), short(m.Null.Asked.P50))
}

func ratesNumber(m *Measures) string {
	if len(m.Rates) == 0 {
		return ""
	}
	last := m.Rates[len(m.Rates)-1]
	if last.Due == 0 {
		return fmt.Sprintf("up to %s requests/s: none was answered", units.Count(last.Rate))
	}
	return fmt.Sprintf("up to %s requests/s: %s/s answered, half within %s", units.Count(last.Rate), units.Count(last.Answers), short(last.Due))
}
