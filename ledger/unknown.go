package ledger

import "snag/scene"

// unseen is the share of a party's seconds in which requests of HTTP/2 were missed, from
// which on its rate and times are not known: what was seen may be its least part.
const unseen = 0.5

// unknown reports that the requests of a party can't be told from what was seen of them.
func unknown(v *scene.Service) bool {
	missed, busy := 0, 0
	for _, row := range v.Rows {
		if row.Missed > 0 {
			missed++
		}
		if row.Missed > 0 || row.N > 0 || row.Open > 0 {
			busy++
		}
	}
	return missed > 0 && float64(missed) >= unseen*float64(busy)
}

// withhold notes whether a party has no figures.
func (l *Ledger) withhold(v *scene.Service) bool {
	if !unknown(v) {
		return false
	}
	l.Unknown = append(l.Unknown, &Party{Role: Role(v.Rows[0].Role), Subject: v.Subject, PIDs: v.PIDs})
	return true
}
