package watch

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// Bounds of a list: more is said and not read.
const (
	maxListBytes = 8 << 20
	maxProblems  = 20 // that are told one by one
)

// Problem is a line of a list that can't be watched.
type Problem struct {
	File string
	Line int // from 1; 0: the whole file
	Why  string
}

func (p Problem) Error() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.File, p.Why)
	}
	return fmt.Sprintf("%s:%d: %s; the other lines are watched", p.File, p.Line, p.Why)
}

// ParseList reads a list: a URL a line, after it name=… and threshold=… where
// wanted, # begins a comment, blank lines are free. whole reports that nobody is
// writing any more: without it a last line that has no newline yet is left for
// the next look, for half of a URL is often a URL too.
func ParseList(file string, b []byte, whole bool) ([]Entry, []Problem) {
	var entries []Entry
	var problems []Problem
	left := 0
	for n := 1; len(b) > 0; n++ {
		line, rest, ended := bytes.Cut(b, []byte("\n"))
		b = rest
		if !ended && !whole {
			break
		}
		e, ok, err := parseLine(string(line), fmt.Sprintf("%s:%d", file, n))
		switch {
		case err != nil && len(problems) >= maxProblems:
			left++
		case err != nil:
			problems = append(problems, Problem{file, n, err.Error()})
		case ok:
			entries = append(entries, e)
		}
	}
	if left > 0 {
		problems = append(problems, Problem{file, 0, fmt.Sprintf("%d more lines can't be read", left)})
	}
	return entries, problems
}

// ParseArgument reads one stream as the command line has it: a URL, or in one word
// for the shell what a list's line has, "rtmp://… name=door threshold=3s".
func ParseArgument(arg, from string) (Entry, error) {
	if !strings.ContainsAny(arg, " \t") { // a URL alone: a quote in it is its own
		return NewEntry(arg, from)
	}
	e, ok, err := parseLine(arg, from)
	if err == nil && !ok {
		err = errors.New("an empty argument is not a URL")
	}
	return e, err
}

func parseLine(line, from string) (Entry, bool, error) {
	if len(line) > maxURL+4*maxName {
		return Entry{}, false, fmt.Errorf("the line is %d bytes long, more than %d", len(line), maxURL+4*maxName)
	}
	words, err := wordsAndComment(line)
	if err != nil || len(words) == 0 {
		return Entry{}, false, err
	}
	e, err := NewEntry(words[0], from)
	if err != nil {
		return Entry{}, false, err
	}
	for _, field := range words[1:] {
		if err := e.set(field); err != nil {
			return Entry{}, false, err
		}
	}
	return e, true, nil
}
