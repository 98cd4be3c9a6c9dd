package elimination

// Figure is one number of what an experiment measured.
type Figure struct {
	Number float64
	Unit   string // s, ratio, requests/s
	Of     string // what it is
}

// seconds is the median of some times; false: none succeeded.
func seconds(t Times, of string) (Figure, bool) { return Figure{t.P50, "s", of}, t.N > 0 }

func requestFigure(m *Measures) (Figure, bool) {
	of := "half of the answers within"
	switch {
	case m.Fresh != nil && m.Fresh.Whole.N > 0 && m.Fresh.Whole.P50 >= m.kept():
		return seconds(m.Fresh.Whole, of+", on a new connection")
	case m.Kept != nil && m.Network == "udp":
		return seconds(m.Kept.Times, of)
	case m.Kept != nil:
		return seconds(m.Kept.Times, of+", on a kept connection")
	}
	return Figure{}, false
}

func ownFigure(m *Measures) (Figure, bool) {
	if m.Own == nil {
		return Figure{}, false
	}
	return seconds(m.Own.Times, "half of the answers of an empty server within")
}

func lookupFigure(m *Measures) (Figure, bool) {
	if m.Resolve == nil {
		return Figure{}, false
	}
	return seconds(m.Resolve.Times, "half of the lookups within")
}

// connectFigure is of all addresses: the share of connects that waited for another SYN, or for nothing.
func connectFigure(m *Measures) (Figure, bool) {
	tried, delayed := 0, 0
	for _, a := range m.Connect {
		tried, delayed = tried+a.Tried, delayed+a.Delayed+a.Refused
	}
	return Figure{float64(delayed) / float64(max(1, tried)), "ratio", "connects that were refused, or waited for another SYN"}, tried > 0
}

func pathFigure(m *Measures) (Figure, bool) {
	rtt, known := m.rtt()
	return Figure{rtt, "s", "shortest round trip"}, known && m.Path != nil
}

func sizeFigure(m *Measures) (Figure, bool) {
	if m.Size == nil {
		return Figure{}, false
	}
	n, answered := 0, 0
	for _, t := range []*Tried{m.Size.Plain, m.Size.Padded} {
		if t != nil {
			n, answered = n+t.N, answered+t.Answered
		}
	}
	return Figure{float64(answered) / float64(max(1, n)), "ratio", "requests, as they are and of 3,000 bytes, that were answered"}, n > 0
}

func handshakeFigure(m *Measures) (Figure, bool) {
	if m.TLS == nil {
		return Figure{}, false
	}
	return seconds(m.TLS.Times, "half of the handshakes within")
}

func newFigure(m *Measures) (Figure, bool) {
	if m.Fresh == nil || m.Fresh.Whole.N == 0 || m.kept() == 0 {
		return Figure{}, false
	}
	return Figure{m.Fresh.Login + m.Fresh.Answer - m.kept(), "s", "more for the first answer on a connection"}, true
}

func optionsFigure(m *Measures) (f Figure, ok bool) {
	for _, o := range m.Options {
		if n := len(o.Pairs); n > 0 {
			if saved := o.Pairs[n-1][0] - o.Pairs[n-1][1]; !ok || saved > f.Number {
				f, ok = Figure{saved, "s", "less with " + o.Name}, true
			}
		}
	}
	return f, ok
}

func nullFigure(m *Measures) (Figure, bool) {
	if m.Null == nil || m.Null.Asked.N == 0 || m.Null.Null == nil || m.Null.Null.N == 0 {
		return Figure{}, false
	}
	return Figure{m.Null.Asked.P50 - m.Null.Null.P50, "s", "more than a request that does nothing"}, true
}

func ratesFigure(m *Measures) (Figure, bool) {
	if len(m.Rates) == 0 {
		return Figure{}, false
	}
	return Figure{m.Rates[len(m.Rates)-1].Answers, "requests/s", "answered at the highest rate"}, true
}
