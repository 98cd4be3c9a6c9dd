package watch

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName is how long a stream's name may be, in characters: a label of a metric
// and a column of a table.
const maxName = 120

// maxURL is how long a URL may be, in bytes: RFC 9110 4.1 asks for 8000 at least.
const maxURL = 8192

// Clean makes a text that came from outside fit to be printed: what could move a
// cursor, ring, colour or turn the writing round becomes a visible \x escape, what
// is no UTF-8 a replacement character, and more than most characters are cut.
func Clean(s string, most int) string {
	var b strings.Builder
	n := 0
	for i, r := range s {
		if n == most {
			return b.String() + "…"
		}
		n++
		switch {
		case r == utf8.RuneError:
			b.WriteRune('�')
		case r == ' ' || unicode.IsGraphic(r) && !unicode.Is(unicode.Zs, r):
			b.WriteRune(r)
		default: // control, format (bidi overrides, zero width), private, unassigned
			b.WriteString(escaped(s[i : i+utf8.RuneLen(r)]))
		}
	}
	return b.String()
}

func escaped(s string) string {
	const hex = "0123456789abcdef"
	var b strings.Builder
	for i := range len(s) {
		b.WriteString(`\x`)
		b.WriteByte(hex[s[i]>>4])
		b.WriteByte(hex[s[i]&15])
	}
	return b.String()
}

// ShownURL is a URL as it may be printed: without credentials and without the
// query's values, which hold stream keys and tokens.
func ShownURL(u *url.URL) string {
	shown := *u
	shown.User = nil
	shown.RawQuery = ""
	shown.Fragment, shown.RawFragment = "", ""
	text := shown.String()
	if names := queryNames(u); len(names) > 0 {
		text += "?" + strings.Join(names, "=…&") + "=…"
	}
	return Clean(text, 500)
}

func queryNames(u *url.URL) []string {
	var names []string
	for name := range u.Query() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names[:min(len(names), 8)]
}
