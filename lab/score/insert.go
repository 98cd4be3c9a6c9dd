package score

import (
	"fmt"
	"os"
	"strings"
)

// Insert writes a text into a page between its lines <!-- NAME --> and
// <!-- /NAME -->, in place of what stood there.
func Insert(page, name, text string) error {
	raw, err := os.ReadFile(page)
	if err != nil {
		return fmt.Errorf("write the %s into a page: %w", name, err)
	}
	begin, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->\n"
	head, rest, ok := strings.Cut(string(raw), begin)
	_, tail, ended := strings.Cut(rest, end)
	if !ok || !ended {
		return fmt.Errorf("write the %s into %s: it has no lines %s and %s", name, page, strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return os.WriteFile(page, []byte(head+begin+text+end+tail), 0o644)
}
