package watch

import (
	"errors"
	"strings"
)

var errQuote = errors.New("a quote is opened and not closed")

// Words splits a line as a shell does, and does nothing else that a shell does:
// blanks part words, '…' keeps all as it is, "…" keeps all but \" and \\, a
// backslash takes the next character as it is. No variable, glob, pipe or
// substitution means anything.
func Words(line string) ([]string, error) { return split(line, false) }

// wordsAndComment is Words where a word that begins with # ends the line.
func wordsAndComment(line string) ([]string, error) { return split(line, true) }

func split(line string, comments bool) ([]string, error) {
	var words []string
	var word strings.Builder
	in := false // a word has begun: '' is one too
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			if in {
				words = append(words, word.String())
				word.Reset()
				in = false
			}
			continue
		case c == '#' && comments && !in:
			return words, nil
		case c == '\'':
			end := strings.IndexByte(line[i+1:], '\'')
			if end < 0 {
				return nil, errQuote
			}
			word.WriteString(line[i+1 : i+1+end])
			i += 1 + end
		case c == '"':
			n, err := quoted(line[i+1:], &word)
			if err != nil {
				return nil, err
			}
			i += n
		case c == '\\':
			if i++; i == len(line) {
				return nil, errors.New("it ends in a backslash")
			}
			word.WriteByte(line[i])
		default:
			word.WriteByte(c)
		}
		in = true
	}
	if in {
		words = append(words, word.String())
	}
	return words, nil
}

// quoted reads what follows a double quote, and returns how far its end is.
func quoted(s string, word *strings.Builder) (int, error) {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return i + 1, nil
		case s[i] == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\'):
			i++
		}
		word.WriteByte(s[i])
	}
	return 0, errQuote
}
