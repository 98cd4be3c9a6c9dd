package main

import (
	"errors"
	"fmt"
	"strings"
)

// Where the tables of a page begin and end.
const (
	begin = "<!-- panels: written by make dashboards -->\n"
	end   = "<!-- end of panels -->\n"
)

// withTables is a page with the tables of all panels in it.
func withTables(text string) (string, error) {
	before, rest, found := strings.Cut(text, begin)
	_, after, also := strings.Cut(rest, end)
	if !found || !also {
		return "", errors.New("it has no lines that say where the tables of the panels are: " + strings.TrimSpace(begin) + ", " + strings.TrimSpace(end))
	}
	var b strings.Builder
	for _, board := range boards {
		fmt.Fprintf(&b, "\n### %s\n\n%s `%s/%s.json`\n\n| panel | what it answers |\n|---|---|\n", board.title, board.about, folder, board.name)
		for _, p := range board.panels {
			if p.kind != separator {
				fmt.Fprintf(&b, "| %s | %s |\n", p.title, p.answer)
			}
		}
	}
	return before + begin + b.String() + "\n" + end + after, nil
}
