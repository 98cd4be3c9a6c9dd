package elimination

import (
	"fmt"
	"strings"
)

func portNumber(m *Measures) string {
	if m.Port == nil {
		return ""
	}
	return fmt.Sprintf("%d of %d answered, %d refused", m.Port.Answered, m.Port.Sent, m.Port.Refused)
}

func portFigure(m *Measures) (Figure, bool) {
	if m.Port == nil || m.Port.Sent == 0 {
		return Figure{}, false
	}
	return Figure{float64(m.Port.Answered) / float64(m.Port.Sent), "ratio", "datagrams that were answered"}, true
}

func bytesNumber(m *Measures) string {
	b := m.Bytes
	if b == nil {
		return ""
	}
	var parts []string
	add := func(what string, t *Tried) {
		if t != nil {
			parts = append(parts, fmt.Sprintf("%s %d of %d answered", what, t.Answered, t.N))
		}
	}
	add("as it is", b.Small)
	if b.TooLarge {
		parts = append(parts, fmt.Sprintf("of %d bytes too large for the path, as a hop reports", b.FullBytes))
	} else {
		add(fmt.Sprintf("of %d bytes", b.FullBytes), b.Full)
	}
	add(fmt.Sprintf("of %d bytes, in fragments,", b.FragmentedBytes), b.Fragmented)
	return strings.Join(parts, ", ")
}

func bytesFigure(m *Measures) (Figure, bool) {
	if m.Bytes == nil || m.Bytes.Full == nil || m.Bytes.Full.N == 0 {
		return Figure{}, false
	}
	t := m.Bytes.Full
	return Figure{float64(t.Answered) / float64(t.N), "ratio", "datagrams that fill a packet and were answered"}, true
}

func burstsNumber(m *Measures) string {
	b := m.Bursts
	if b == nil {
		return ""
	}
	parts := []string{fmt.Sprintf("one at a time %d of %d answered", b.Spread.Answered, b.Spread.N)}
	for _, t := range b.AtOnce {
		parts = append(parts, fmt.Sprintf("%d of %d at once", t.Answered, t.N))
	}
	return strings.Join(parts, ", ")
}

func burstsFigure(m *Measures) (Figure, bool) {
	if m.Bursts == nil || len(m.Bursts.AtOnce) == 0 {
		return Figure{}, false
	}
	sent, answered := 0, 0
	for _, t := range m.Bursts.AtOnce {
		sent, answered = sent+t.N, answered+t.Answered
	}
	return Figure{float64(answered) / float64(max(1, sent)), "ratio", "datagrams sent at once that were answered"}, sent > 0
}
