package shown

import (
	"crypto/rand"
	"io"
	"strings"
	"unicode/utf8"
)

// Our own colours are marks in a text until it is written: they begin with what no
// other text can hold, as it is drawn anew each time that snag runs.
var mark = "\xff" + rand.Text()[:16] + "\xff"

// Reset ends all colours.
var Reset = mark + "0m"

// Paint colours a text, by a code as 31 or 1. A colour inside ends, and this one begins
// again there.
func Paint(code, s string) string {
	begin := mark + code + "m"
	return begin + strings.ReplaceAll(s, Reset, Reset+begin) + Reset
}

// Painted is Text of what stands between the colours.
func Painted(s string) string {
	if Safe(s) {
		return s
	}
	var b strings.Builder
	pieces(s, func(text, code string) bool {
		b.WriteString(Text(text))
		b.WriteString(code)
		return true
	})
	return b.String()
}

// pieces parts a text from the colours behind it.
func pieces(s string, each func(text, code string) bool) {
	for s != "" {
		text, rest, found := strings.Cut(s, mark)
		end := strings.IndexByte(rest, 'm') + 1
		code := ""
		if found {
			code = mark + rest[:end]
		}
		if !each(text, code) {
			return
		}
		s = rest[end*min(1, len(code)):]
	}
}

// Columns is how many columns a text takes: colours take none.
func Columns(s string) int {
	n := 0
	pieces(s, func(text, _ string) bool {
		n += utf8.RuneCountInString(text)
		return true
	})
	return n
}

// Cut keeps so many columns.
func Cut(s string, width int) string {
	var b strings.Builder
	pieces(s, func(text, code string) bool {
		n := utf8.RuneCountInString(text)
		if n > width {
			b.WriteString(string([]rune(text)[:width]))
			return false
		}
		b.WriteString(text)
		b.WriteString(code)
		width -= n
		return true
	})
	return b.String()
}

// To is a writer for terminals: all that is written passes through Text but the ends of
// lines, tabs and our own colours, which are made here.
func To(w io.Writer) io.Writer {
	if _, ok := w.(*writer); ok {
		return w
	}
	return &writer{w}
}

type writer struct{ w io.Writer }

// Under is what a writer of To writes to; any other is its own.
func Under(w io.Writer) io.Writer {
	if own, ok := w.(*writer); ok {
		return own.w
	}
	return w
}

func (w *writer) Write(p []byte) (int, error) {
	var b strings.Builder
	text := string(p)
	for text != "" {
		end := strings.IndexAny(text, "\n\t")
		if end < 0 {
			end = len(text)
		}
		pieces(text[:end], func(text, code string) bool {
			b.WriteString(Text(text))
			b.WriteString(strings.ReplaceAll(code, mark, "\x1b["))
			return true
		})
		if end < len(text) {
			b.WriteByte(text[end])
			end++
		}
		text = text[end:]
	}
	if _, err := io.WriteString(w.w, b.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}
