package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"snag/internal/shown"
	"snag/internal/sorting"
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
	sorting.StableBy(flows, func(a, b recording.Flow) int {
		return cmp.Or(cmp.Compare(scene.WaitedOn(b), scene.WaitedOn(a)), cmp.Compare(carried(b), carried(a)))
	})
	p.gap()
	const title = "in the capture  "
	p.item("", p.bold(title), strings.Repeat(" ", len(title)), p.dim(captureSum(flows)))
	if p.detail.others == 0 {
		return // the sum is all that there is room for
	}
	n := min(len(flows), p.mostRows())
	rows := [][]string{{"connection", "opened in", "answers", "slowest", "again", "shut", "carried", "ended"}}
	for _, f := range flows[:n] {
		rows = append(rows, conversation(f))
	}
	columns, ends := columnsOf(rows, p.Width)
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
var widths = [8]int{0, 11, 9, 9, 8, 9, 10, 10}

// columnsOf is which columns fit beside the connection's ends, and how wide these are. A column that
// says nothing goes first, then what the table itself has (snag show).
func columnsOf(rows [][]string, width int) (columns []int, ends int) {
	for _, row := range rows {
		ends = min(max(ends, utf8.RuneCountInString(row[0])), 2*endMost+len(" > "))
	}
	said := func(column int) bool {
		return slices.ContainsFunc(rows[1:], func(row []string) bool { return row[column] != none })
	}
	room := width - len("  ") - len("  ") - ends
	for i := 1; i < len(widths); i++ {
		if said(i) {
			columns, room = append(columns, i), room-widths[i]
		}
	}
	for _, i := range []int{1, 6, 2, 4, 5, 3} {
		if at := slices.Index(columns, i); room < 0 && at >= 0 {
			columns, room = slices.Delete(columns, at, at+1), room+widths[i]
		}
	}
	return columns, ends + min(room, 0)
}

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

const none = "–"

// conversation is a line of the table: between whom, how long the handshake took, the mean and the
// longest wait for an answer, which part of the data was sent again, for how long a window was shut,
// bytes, and how it ended.
func conversation(f recording.Flow) []string {
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

// endMost is how long one end may be: an address of IPv4 with its port has 21 characters at most.
const endMost = 22

func between(f recording.Flow) string {
	text := shortEnd(f.Client) + " → " + shortEnd(f.Server)
	if f.Proto != "tcp" {
		text = f.Proto + " " + text
	}
	return text
}

// shortEnd cuts a long address of IPv6, and never its port.
func shortEnd(end string) string {
	over := utf8.RuneCountInString(end) - endMost
	if at := strings.LastIndex(end, "]:"); over > 0 && at > over+1 {
		return end[:at-over-1] + "…" + end[at:]
	}
	return end
}
