package report

import (
	"strings"
	"unicode/utf8"

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

func (p *page) add(lines ...string) { p.lines = append(p.lines, lines...) }

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
	rows := wrap(text, width)
	if !whole && !p.detail.wrap && len(rows) > 1 {
		rows = []string{cut(rows[0], width-2) + " …"}
		if p.Color {
			rows[0] += reset
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
	gap := p.Width - visible(left) - visible(right)
	if gap < 2 {
		p.add(left, "  "+right)
		return
	}
	p.add(left + strings.Repeat(" ", gap) + right)
}

// wrap breaks text at spaces so that no line is wider than width; a word that is
// longer (a path) stands on a line of its own.
func wrap(text string, width int) []string {
	var out []string
	line, n := "", 0
	for _, word := range words(text) {
		w := visible(word)
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

// visible is the number of columns that s takes: escapes take none.
func visible(s string) int {
	n, escape := 0, false
	for _, r := range s {
		switch {
		case r == '\x1b':
			escape = true
		case escape:
			escape = r != 'm'
		default:
			n++
		}
	}
	return n
}

func cut(s string, width int) string {
	n, escape := 0, false
	for i, r := range s {
		switch {
		case r == '\x1b':
			escape = true
		case escape:
			escape = r != 'm'
		default:
			if n == width {
				return s[:i]
			}
			n++
		}
	}
	return s
}

const reset = "\x1b[0m"

// paint colours text, or leaves it.
type paint struct{ red, green, yellow, bold, dim func(string) string }

func palette(color bool) paint {
	code := func(c string) func(string) string {
		if !color {
			return func(s string) string { return s }
		}
		return func(s string) string {
			// A reset inside would end this colour too early; begin it again there.
			return "\x1b[" + c + "m" + strings.ReplaceAll(s, reset, reset+"\x1b["+c+"m") + reset
		}
	}
	return paint{red: code("31"), green: code("32"), yellow: code("33"), bold: code("1"), dim: code("2")}
}
