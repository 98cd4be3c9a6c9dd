package report

import (
	"fmt"
	"strings"

	"snag/internal/shown"
	"snag/internal/units"
	"snag/recording"
)

// mostRungs are printed of the longest wait.
const mostRungs = 40

// ladder draws the longest wait of a capture packet by packet: the client on the left, the server on
// the right. flows are the connections, the one on which somebody waited longest first.
func (p *page) ladder(r *recording.Recording, flows []recording.Flow) {
	for _, f := range flows {
		var rows []recording.Segment
		for _, row := range r.Segments {
			if row.Wait && row.Netns == f.Netns && row.Client == f.Client && row.Server == f.Server && row.T >= f.T && row.T <= f.End {
				rows = append(rows, row)
			}
		}
		if len(rows) == 0 {
			continue
		}
		p.add("", p.bold("the longest wait")+p.dim("  "+f.Client+" on the left, "+f.Server+" on the right; seconds since the packet above"))
		before := rows[0].T
		for _, row := range rows[:min(len(rows), mostRungs)] {
			text := SegmentText(row)
			rung := fmt.Sprintf("%-28s ──→", text)
			if !row.Up {
				rung = fmt.Sprintf("%-28s ←── %s", "", text)
			}
			p.add(shown.Cut(fmt.Sprintf("  %s %10.6f  %s", clock(row.T)[:8], row.T.Sub(before).Seconds(), rung), p.Width))
			before = row.T
		}
		return
	}
}

// SegmentText says what a captured segment is: "SYN", "1.4 KiB, sent again", "ACK of 18 B".
func SegmentText(row recording.Segment) string {
	var words []string
	for _, f := range []struct{ flag, word string }{{"S", "SYN"}, {"F", "FIN"}, {"R", "RST"}} {
		if strings.Contains(row.Flags, f.flag) {
			words = append(words, f.word)
		}
	}
	if row.Len > 0 {
		words = append(words, units.Bytes(float64(row.Len)))
	}
	if strings.Contains(row.Flags, ".") && (row.Len == 0 || row.Flags == "S.") {
		words = append(words, "ACK of "+units.Bytes(float64(row.Ack)))
	}
	if row.Again {
		words = append(words, "sent again")
	}
	if row.Window == 0 && !strings.ContainsAny(row.Flags, "SFR") {
		words = append(words, "window 0")
	}
	return strings.Join(words, ", ")
}
