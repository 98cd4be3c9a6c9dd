// Package shown makes text fit to be shown: what a recording says was written by
// strangers, and a name may hold what moves a terminal's cursor, sets its title or
// turns the order of the letters round.
package shown

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text makes visible whatever a terminal would obey or would not show: control
// characters (C0, DEL, C1), those that turn the direction of writing, those without a
// width, separators of lines and paragraphs, bytes that are no UTF-8. They become
// \x1b and \u{202e}. What it has made it leaves as it is.
func Text(s string) string {
	at := firstHidden(s)
	if at < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	b.WriteString(s[:at])
	for at < len(s) {
		r, n := utf8.DecodeRuneInString(s[at:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[at])
		case hidden(r):
			b.WriteString(visible(r))
		default:
			b.WriteString(s[at : at+n])
		}
		at += n
	}
	return b.String()
}

// Safe reports whether Text would leave s as it is.
func Safe(s string) bool { return firstHidden(s) < 0 }

func visible(r rune) string {
	if r < 0x80 {
		return fmt.Sprintf(`\x%02x`, r)
	}
	return fmt.Sprintf(`\u{%04x}`, r)
}

// firstHidden is where the first stands; -1: nowhere.
func firstHidden(s string) int {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c < 0x7f {
			continue
		}
		if c < 0x80 {
			return i
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 || hidden(r) {
			return i
		}
		i += n - 1
	}
	return -1
}

// hidden are control characters, those of formatting (Cf: directions, widths of
// nothing, tags) and separators of lines.
func hidden(r rune) bool {
	if r < 0x80 {
		return r < ' ' || r == 0x7f
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || blank(r)
}

// blank are letters and marks that Unicode calls so and that nobody sees.
func blank(r rune) bool {
	switch r {
	case 0x034f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x3164, 0xffa0:
		return true
	}
	return false
}

// Sprintf cleans what is filled in, and leaves the format's own lines and tabs.
func Sprintf(format string, args ...any) string {
	own := make([]any, len(args))
	for i, a := range args {
		own[i] = argument(a)
	}
	return fmt.Sprintf(format, own...)
}

func argument(a any) any {
	switch a := a.(type) {
	case string:
		return Text(a)
	case error:
		return Text(a.Error())
	case []string:
		out := make([]string, len(a))
		for i, s := range a {
			out[i] = Text(s)
		}
		return out
	}
	return a
}

// Fprintf writes what Sprintf makes.
func Fprintf(w io.Writer, format string, args ...any) {
	_, _ = io.WriteString(w, Sprintf(format, args...)) // to a buffer: it has no error
}

// Wrapped breaks text at its spaces so that no line is wider than width, and ends it; further lines are
// indented by four columns. A word that is longer, such as a path, has a line of its own.
func Wrapped(text string, width int) string {
	var b strings.Builder
	at := 0
	for i, word := range strings.Fields(text) {
		n := Columns(word)
		switch {
		case i > 0 && at+1+n > width:
			b.WriteString("\n    ")
			at = 4
		case i > 0:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	b.WriteByte('\n')
	return b.String()
}
