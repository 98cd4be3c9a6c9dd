// Package words splits a command line into its words without a shell: nothing is
// expanded, substituted or redirected, and a sign that only a shell would understand
// is a plain character.
package words

import (
	"errors"
	"strings"
)

// ErrOpenQuote is of a line whose quote does not end.
var ErrOpenQuote = errors.New("a quote is opened and not closed")

// Split splits a line at blanks. Between single quotes all is taken as it is; between
// double quotes too, but for \" and \\; outside of quotes a backslash takes the next
// character as it is. It is the quoting of POSIX's shell (XCU 2.2) and nothing else
// of it.
func Split(line string) ([]string, error) {
	var all []string
	var word strings.Builder
	var quote rune
	begun, escaped := false, false
	for _, r := range line {
		switch {
		case r == 0:
			return nil, errors.New("it has a zero byte, which no argument can have")
		case escaped:
			if quote == '"' && r != '"' && r != '\\' {
				word.WriteByte('\\')
			}
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, begun = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, begun = r, true
		case quote == 0 && strings.ContainsRune(" \t\n\r", r):
			if begun {
				all = append(all, word.String())
				word.Reset()
			}
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	switch {
	case quote != 0:
		return nil, ErrOpenQuote
	case escaped:
		return nil, errors.New("it ends with a backslash that takes nothing")
	case begun:
		all = append(all, word.String())
	}
	return all, nil
}

// Command is Split of a line that names a program.
func Command(line string) ([]string, error) {
	all, err := Split(line)
	if err == nil && (len(all) == 0 || all[0] == "") {
		return nil, errors.New("it names no program")
	}
	return all, err
}
