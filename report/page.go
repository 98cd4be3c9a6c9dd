package report

import (
	"io"
	"strings"
	"unicode/utf8"

	"snag/internal/shown"
	"snag/recording"
)

// page collects the lines of a report.
type page struct {
	Options
	detail detail
	lines  []string
	began  recording.Time
	files  bool // it is of files that others wrote
	days   bool // it is of more than one day
	paint
}

// add takes lines as they are to stand; what of them is others' is cleaned here.
func (p *page) add(lines ...string) {
	for _, l := range lines {
		p.lines = append(p.lines, shown.Painted(l))
	}
}

// gap parts what follows from what is there, where there is room.
func (p *page) gap() {
	if p.detail.roomy {
		p.add("")
	}
}

// rows is how many rows of the terminal the lines take: one that is wider, as a command is, takes several.
func (p *page) rows() (n int) {
	for _, l := range p.lines {
		n += max(1, (shown.Columns(l)+p.Width-1)/p.Width)
	}
	return n
}

// mostRows is how many rows of a table are shown.
func (p *page) mostRows() int {
	if !p.detail.roomy {
		return p.detail.symptoms
	}
	return p.detail.symptoms + 1
}

// print writes what was collected; only here colours become escapes.
func (p *page) print(w io.Writer) error {
	_, err := io.WriteString(shown.To(w), strings.Join(p.lines, "\n")+"\n")
	return err
}

// item adds text behind a mark, wrapped at the width and indented under itself;
// cut to one line where the screen is short.
func (p *page) item(indent, mark, hang, text string) { p.write(indent, mark, hang, text, false) }

// answer is an item that is never cut, however small the screen: who it is, and what
// to do.
func (p *page) answer(indent, mark, hang, text string) { p.write(indent, mark, hang, text, true) }

func (p *page) write(indent, mark, hang, text string, whole bool) {
	width := p.Width - utf8.RuneCountInString(indent+hang)
	if width < 20 {
		width = 20
	}
	rows := wrap(shown.Painted(oneLine(text)), width)
	if !whole && !p.detail.wrap && len(rows) > 1 {
		rows = []string{shown.Cut(rows[0], width-2) + " …"}
		if p.Color {
			rows[0] += shown.Reset
		}
	}
	for i, row := range rows {
		if i == 0 {
			p.add(indent + mark + row)
		} else {
			p.add(indent + hang + row)
		}
	}
}

// spread puts left and right at the two ends of a line.
func (p *page) spread(left, right string) {
	left, right = shown.Painted(left), shown.Painted(right)
	gap := p.Width - shown.Columns(left) - shown.Columns(right)
	if gap < 2 {
		p.add(left, "  "+right)
		return
	}
	p.add(left + strings.Repeat(" ", gap) + right)
}

// oneLine makes spaces of what parts our own sentences and the kernel's numbers.
func oneLine(text string) string { return strings.NewReplacer("\n", " ", "\t", " ").Replace(text) }

// wrap breaks text at spaces so that no line is wider than width; a word that is
// longer (a path) stands on a line of its own.
func wrap(text string, width int) []string {
	var out []string
	line, n := "", 0
	for _, word := range words(text) {
		w := shown.Columns(word)
		if n > 0 && n+1+w > width {
			out = append(out, line)
			line, n = "", 0
		}
		if n > 0 {
			line += " "
			n++
		}
		line += word
		n += w
	}
	return append(out, line)
}

// words parts text at spaces, a percent sign kept with its number.
func words(text string) []string {
	var out []string
	for _, w := range strings.Fields(text) {
		if n := len(out); n > 0 && strings.HasPrefix(w, "%") {
			out[n-1] += " " + w
			continue
		}
		out = append(out, w)
	}
	return out
}

// paint colours text, or leaves it.
type paint struct{ red, green, yellow, bold, dim func(string) string }

func palette(color bool) paint {
	code := func(c string) func(string) string {
		return func(s string) string {
			if !color {
				return s
			}
			return shown.Paint(c, s)
		}
	}
	return paint{red: code("31"), green: code("32"), yellow: code("33"), bold: code("1"), dim: code("2")}
}
