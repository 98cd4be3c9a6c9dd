package ledger

// Second is what a party had in one second: answers that ended, those of them that were errors, and
// the request-seconds that were open.
type Second struct{ Answers, Failed, Open float64 }

// Seconds are those of a party in the window; nil where its time was booked for the whole of it.
func (l *Ledger) Seconds(p *Party) []Second {
	if len(p.open) == 0 {
		return nil
	}
	out := make([]Second, max(0, int(l.Window.End.Sub(l.Window.Start).Seconds())))
	for at := range out {
		out[at] = Second{float64(p.answers[at]), float64(p.failures[at]), p.open[at]}
	}
	return out
}

// Pending are the requests that had no answer at the end of the recording.
func (p *Party) Pending() uint64 { return p.waiting }
