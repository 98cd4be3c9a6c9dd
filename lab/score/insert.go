package score

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// The lines of a page between which a score stands.
const (
	markBegin = "<!-- score -->"
	markEnd   = "<!-- /score -->"
)

// Insert writes the report's tables into a page between its two marks, in place of
// what stood there.
func Insert(page string, r Report) error {
	raw, err := os.ReadFile(page)
	if err != nil {
		return fmt.Errorf("write the score into a page: %w", err)
	}
	head, rest, ok := strings.Cut(string(raw), markBegin+"\n")
	_, tail, ended := strings.Cut(rest, markEnd+"\n")
	if !ok || !ended {
		return fmt.Errorf("write the score into %s: it has no lines %s and %s", page, markBegin, markEnd)
	}
	var b bytes.Buffer
	b.WriteString(head + markBegin + "\n")
	if err := r.Markdown(&b); err != nil {
		return err
	}
	b.WriteString(markEnd + "\n" + tail)
	return os.WriteFile(page, b.Bytes(), 0o644)
}
