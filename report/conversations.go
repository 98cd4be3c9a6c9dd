package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"snag/internal/shown"
	"snag/internal/units"
	"snag/recording"
	"snag/scene"
)

// conversations prints what a capture holds: how much, and the connections on which somebody
// waited, those that waited longest first; of a capture in which nobody did, the largest.
func (p *page) conversations(r *recording.Recording) {
	flows := slices.Clone(r.Flows)
	if len(flows) == 0 {
		return
	}
	slices.SortStableFunc(flows, func(a, b recording.Flow) int {
		return cmp.Or(cmp.Compare(scene.WaitedOn(b), scene.WaitedOn(a)), cmp.Compare(carried(b), carried(a)))
	})
	p.add("")
	const title = "in the capture  "
	p.item("", p.bold(title), strings.Repeat(" ", len(title)), p.dim(captureSum(flows)))
	n := min(len(flows), p.detail.symptoms+1)
	wide := p.Width >= 100
	rows := [][]string{{"connection", "opened in", "answers", "slowest", "again", "shut", "carried", "ended"}}
	for _, f := range flows[:n] {
		rows = append(rows, conversation(f))
	}
	ends := 0
	for _, row := range rows {
		ends = max(ends, utf8.RuneCountInString(row[0]))
	}
	columns := []int{1, 2, 3, 4, 5, 6, 7}
	if !wide { // how fast it was opened, and how much it carried, are in the table itself
		columns = []int{2, 3, 4, 5, 7}
	}
	rest := 2 + 2
	for _, i := range columns {
		rest += widths[i]
	}
	ends = min(ends, max(p.Width-rest, 16))
	for i, row := range rows {
		line := fmt.Sprintf("  %-*s  ", ends, shown.Cut(row[0], ends))
		for _, at := range columns {
			line += fmt.Sprintf("%-*s", widths[at], row[at])
		}
		if line = shown.Cut(strings.TrimRight(line, " "), p.Width); i == 0 {
			line = p.dim(line)
		}
		p.add(line)
	}
	if more := len(flows) - n; more > 0 {
		p.add(p.dim(fmt.Sprintf("  and %d more: snag show --table flows", more)))
	}
	if p.Verbose {
		p.ladder(r, flows)
	}
}

// widths of the columns behind the connection's ends.
var widths = [8]int{0, 11, 9, 9, 8, 9, 10, 9}

// captureSum says what a capture holds, in a line.
func captureSum(flows []recording.Flow) string {
	packets, bytes, tcp, waited := 0.0, 0.0, 0, 0
	hosts := map[string]bool{}
	for _, f := range flows {
		packets += float64(f.Up.Packets + f.Down.Packets)
		bytes += carried(f)
		hosts[recording.Host(f.Client)], hosts[recording.Host(f.Server)] = true, true
		if f.Proto == "tcp" {
			tcp++
		}
		if scene.WaitedOn(f) > 0 {
			waited++
		}
	}
	out := fmt.Sprintf("%s between %s, %s packets, %s", units.Plural(tcp, "TCP connection"), units.Plural(len(hosts), "host"), units.Count(packets), units.Bytes(bytes))
	if n := len(flows) - tcp; n > 0 {
		out += fmt.Sprintf("; %s of UDP", units.Plural(n, "flow"))
	}
	if waited > 0 {
		out += fmt.Sprintf("; on %d somebody waited in vain", waited)
	}
	return out
}

func carried(f recording.Flow) float64 { return float64(f.Up.Bytes + f.Down.Bytes) }

// conversation is a line of the table: between whom, how long the handshake took, the mean and the
// longest wait for an answer, which part of the data was sent again, for how long a window was shut,
// bytes, and how it ended.
func conversation(f recording.Flow) []string {
	const none = "–"
	handshake, answers, slowest, again, shut := none, none, none, none, none
	if f.Handshake != nil {
		handshake = took(*f.Handshake)
	}
	if answered := f.Asked - min(f.Asked, openOf(f)); answered > 0 {
		answers, slowest = took(f.WaitSum/float64(answered)), took(f.WaitMax)
	}
	if q := f.Silence; q != nil && q.Length >= f.WaitMax {
		slowest = took(q.Length)
		if q.Open {
			slowest = ">" + slowest
		}
	}
	if segments := f.Up.Segments + f.Down.Segments; f.Up.Resent+f.Down.Resent > 0 && segments > 0 {
		again = units.Percent(float64(f.Up.Resent+f.Down.Resent) / float64(segments))
	}
	if s := f.Up.WindowShut + f.Down.WindowShut; s > 0 {
		shut = took(s)
	}
	return []string{between(f), handshake, answers, slowest, again, shut, units.Bytes(carried(f)), ended(f)}
}

// openOf is how many requests had no answer: the last at most.
func openOf(f recording.Flow) uint64 {
	if f.Silence != nil && f.Silence.Open {
		return 1
	}
	return 0
}

func ended(f recording.Flow) string {
	switch f.Closed {
	case "client rst", "server rst":
		return "reset"
	case "unanswered":
		return "no answer"
	case "client fin", "server fin":
		return "half"
	}
	return f.Closed
}

func between(f recording.Flow) string {
	text := f.Client + " → " + f.Server
	if f.Proto != "tcp" {
		text = f.Proto + " " + text
	}
	return text
}
