package shown

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// Escape writes what is hidden as JSON and YAML's quoted texts write it, \u202e, so that
// programs read what was there and a terminal obeys none of it. In their text it can
// stand in quotes alone.
func Escape(text []byte) []byte { return escaped(text, false) }

// EscapeYAML is Escape where a character beyond \uffff is one escape and not two.
func EscapeYAML(text []byte) []byte { return escaped(text, true) }

func escaped(text []byte, yaml bool) []byte {
	var b []byte
	from := 0
	for i := 0; i < len(text); {
		r, n := rune(text[i]), 1
		if r >= 0x80 {
			r, n = utf8.DecodeRune(text[i:])
		}
		if (r < ' ' || !hidden(r)) && (r != utf8.RuneError || n != 1) {
			i += n
			continue
		}
		b = append(b, text[from:i]...)
		switch {
		case r == utf8.RuneError:
			b = append(b, `\ufffd`...)
		case r <= 0xffff:
			b = fmt.Appendf(b, `\u%04x`, r)
		case yaml:
			b = fmt.Appendf(b, `\U%08x`, r)
		default:
			r -= 0x10000
			b = fmt.Appendf(b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		}
		i += n
		from = i
	}
	if from == 0 {
		return text
	}
	return append(b, text[from:]...)
}

// JSON is a writer for JSON of which each value is written at once, as by encoding/json.
func JSON(w io.Writer) io.Writer { return jsonWriter{w} }

type jsonWriter struct{ w io.Writer }

func (w jsonWriter) Write(p []byte) (int, error) {
	if _, err := w.w.Write(Escape(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// InJSON is Text of all texts in what encoding/json wrote, for those who show them as
// they are (a browser). Ends of lines and tabs stay.
func InJSON(doc []byte) []byte {
	out := make([]byte, 0, len(doc)+len(doc)/64)
	for doc = Escape(doc); len(doc) > 0; {
		at := bytes.IndexByte(doc, '\\')
		if at < 0 || at+1 >= len(doc) {
			break
		}
		out = append(out, doc[:at]...)
		n := 2
		var r rune
		switch doc[at+1] {
		case 'b':
			r = '\b'
		case 'f':
			r = '\f'
		case 'r':
			r = '\r'
		case 'u':
			r, n = escape(doc[at:])
		}
		if r != 0 && hidden(r) || n >= 6 && r == 0 {
			out = append(out, '\\')
			out = append(out, visible(r)...)
		} else {
			out = append(out, doc[at:at+n]...)
		}
		doc = doc[at+n:]
	}
	return append(out, doc...)
}

// escape reads \u202e, and a pair of them.
func escape(doc []byte) (rune, int) {
	v := func(at int) rune {
		if len(doc) < at+6 || doc[at] != '\\' || doc[at+1] != 'u' {
			return -1
		}
		n, err := strconv.ParseUint(string(doc[at+2:at+6]), 16, 32)
		if err != nil {
			return -1
		}
		return rune(n)
	}
	r := v(0)
	if r < 0 {
		return utf8.RuneError, 2
	}
	if low := v(6); r >= 0xd800 && r < 0xdc00 && low >= 0xdc00 && low < 0xe000 {
		return (r-0xd800)<<10 + low - 0xdc00 + 0x10000, 12
	}
	return r, 6
}
