package live

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"snag/internal/shown"
	"snag/internal/sorting"
	"snag/probes/streams/watch"
)

// Table draws the table of all streams. It decides nothing and keeps nothing: the
// same view of the same snapshot is the same text.
type Table struct {
	Width, Height int
	Color         bool
	Cursor        string // the key of the chosen row; "" for the first
	Top           int    // the first row that is shown; moved so that the cursor is
	Filter        string // part of a name, label, URL or state; "" for all
	Group         string // the key of the label that rows are grouped by; "" for none
	Typing        bool   // the filter is being typed
	Last          string // the last event, one line
}

// Key tells rows apart.
func Key(r *watch.Row) string { return r.Layer + " " + r.Name }

// Sorted puts the sick first, worst state first, then by name; what the filter
// leaves out is left out.
func Sorted(s *watch.Snapshot, filter string) []*watch.Row {
	filter = strings.ToLower(filter)
	var rows []*watch.Row
	for i := range s.Rows {
		r := &s.Rows[i]
		if filter == "" || strings.Contains(strings.ToLower(r.Name+" "+r.Layer+" "+r.Shown+" "+stateWord(r.State)+" "+r.Labels.String()), filter) {
			rows = append(rows, r)
		}
	}
	sorting.By(rows, func(a, b *watch.Row) int {
		return cmp.Or(cmp.Compare(rank(a.State), rank(b.State)), sorting.Natural(a.Name, b.Name), strings.Compare(a.Layer, b.Layer))
	})
	return rows
}

// rank puts what is well, and what has only begun, behind the sick, as one: a row
// must not jump about while it connects.
func rank(s watch.State) watch.State { return min(s, watch.Connecting) }

// around is how many lines the table has beside its rows: two heads, the titles,
// the last event, the keys.
const around = 5

// Rows is how many rows fit.
func (t *Table) Rows() int { return max(1, t.Height-around) }

// Draw draws the table, Height lines of at most Width columns.
func (t *Table) Draw(s *watch.Snapshot) string {
	items := itemsOf(Sorted(s, t.Filter), t.Group)
	chosen := t.scroll(items)
	columns := layout(max(t.Width, 60), hasTransport(s.Rows))
	lines := []string{
		t.head(s),
		" " + cut(own(s.Own), t.Width-1),
		t.style(styleTitle, strings.Repeat(" ", margin)+titles(columns)),
	}
	for i := t.Top; i < min(len(items), t.Top+t.Rows()); i++ {
		if items[i].row == nil {
			lines = append(lines, t.style(styleTitle, " "+items[i].head))
			continue
		}
		lines = append(lines, t.row(columns, s, items[i].row, i == chosen))
	}
	for len(lines) < t.Height-2 {
		lines = append(lines, "")
	}
	lines = append(lines, " "+cut(t.Last, t.Width-1), t.keys(items))
	for i, l := range lines {
		lines[i] = cut(l, t.Width)
	}
	return strings.Join(lines, "\n")
}

// head is the totals on the left and the time on the right.
func (t *Table) head(s *watch.Snapshot) string {
	at := clock(s.T) + " UTC"
	room := t.Width - len(at) - 2
	text := fit(" "+totalsWithin(s, room-1), room)
	if s.Sick() > 0 {
		text = t.style(styleBad, text)
	} else {
		text = t.style(styleTitle, text)
	}
	return text + "  " + at
}

// scroll moves Top so that the chosen row is shown, with its group's line where it is
// the first of it, and says which that is.
func (t *Table) scroll(items []item) int {
	chosen := slices.IndexFunc(items, func(i item) bool { return i.row != nil && Key(i.row) == t.Cursor })
	if chosen < 0 {
		chosen = max(0, slices.IndexFunc(items, func(i item) bool { return i.row != nil }))
	}
	fits, first := t.Rows(), chosen
	if chosen > 0 && items[chosen-1].row == nil {
		first--
	}
	t.Top = min(t.Top, first)
	t.Top = max(t.Top, chosen-fits+1, 0)
	t.Top = max(0, min(t.Top, len(items)-fits))
	return chosen
}

func (t *Table) row(columns []column, s *watch.Snapshot, r *watch.Row, chosen bool) string {
	c := cells(columns, s, r)
	for i := range c {
		c[i] = shown.Text(c[i])
	}
	mark := "  "
	if chosen {
		mark = "> "
		c[1] = t.style(styleChosen, c[1])
	}
	switch {
	case r.State <= watch.NoAnswer:
		c[0] = t.style(styleBad, c[0])
	case r.State.Sick():
		c[0] = t.style(styleWarn, c[0])
	case r.State != watch.OK:
		c[0] = t.style(styleDim, c[0])
	}
	return mark + strings.Join(c, " ")
}

func (t *Table) keys(items []item) string {
	if t.Typing {
		return fmt.Sprintf(" / %s█   (enter: keep, esc: all)", watch.Clean(t.Filter, 60))
	}
	text := " q quit   / filter   ↑↓ move   enter details"
	if t.Filter != "" {
		text = fmt.Sprintf(" filter: %s (esc: all)   q quit   enter details", watch.Clean(t.Filter, 40))
	}
	if fits := t.Rows(); len(items) > fits {
		before, here := len(rowsOf(items[:t.Top])), len(rowsOf(items[t.Top:min(len(items), t.Top+fits)]))
		text += fmt.Sprintf("   rows %d–%d of %d", before+1, before+here, len(rowsOf(items)))
	}
	return t.style(styleDim, text)
}

type style uint8

const (
	styleTitle style = iota
	styleBad
	styleWarn
	styleDim
	styleChosen
)

// style colours a text, from which nothing else steers the terminal. Every difference that
// it makes is in the words too.
func (t *Table) style(s style, text string) string {
	text = shown.Text(text)
	if !t.Color {
		return text
	}
	l := lipgloss.NewStyle()
	switch s {
	case styleTitle:
		l = l.Bold(true)
	case styleBad:
		l = l.Bold(true).Foreground(lipgloss.Red)
	case styleWarn:
		l = l.Foreground(lipgloss.Yellow)
	case styleDim:
		l = l.Faint(true)
	case styleChosen:
		l = l.Reverse(true)
	}
	return l.Render(text)
}
