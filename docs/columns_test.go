package docs

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// mostColumns of a line that is comment alone, with tabs of four columns, as tools/lint has it for the Go of the main
// module.
const mostColumns = 120

// commentMarks begin a line of comment, by the end of a file's name.
var commentMarks = map[string][]string{
	".go": {"// "}, ".c": {"// ", "* ", "/* "}, ".h": {"// ", "* ", "/* "}, ".ts": {"// ", "* ", "/* "}, ".mjs": {"// ", "* "}, ".css": {"/* ", "* "},
	".sh": {"# "}, ".yml": {"# "}, ".yaml": {"# "}, ".service": {"# "}, "Makefile": {"# "},
}

// ownModule are the modules that the linter of the main one does not see.
var ownModule = regexp.MustCompile(`^tools/(release|lint)/`)

// generated is in the first line of what is not to be edited.
var generated = regexp.MustCompile(`(?i)not to be edited|do not edit|generated`)

// wide are the lines of a file that are a comment of more than mostColumns, and have a blank at which to break them.
func wide(name, text string) (out []string) {
	marks := commentMarks[filepath.Ext(name)]
	if marks == nil {
		marks = commentMarks[filepath.Base(name)]
	}
	for _, line := range strings.Split(text, "\n") {
		if utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    ")) <= mostColumns {
			continue
		}
		for _, mark := range marks {
			if rest, is := strings.CutPrefix(strings.TrimLeft(line, "\t "), mark); is && strings.Contains(rest, " ") {
				out = append(out, line)
			}
		}
	}
	return out
}

func TestCommentsFitTheirColumns(t *testing.T) {
	listed, err := exec.Command("git", "-C", "..", "ls-files").Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	seen := 0
	for _, name := range strings.Fields(string(listed)) {
		known := commentMarks[filepath.Ext(name)] != nil || commentMarks[filepath.Base(name)] != nil
		if !known || strings.Contains(name, "testdata/") || strings.Contains(name, "report/page/bundle/") || strings.HasSuffix(name, ".go") && !ownModule.MatchString(name) {
			continue
		}
		text := read(t, filepath.Join("..", name))
		if first, _, _ := strings.Cut(text, "\n"); generated.MatchString(first) {
			continue
		}
		seen++
		for _, line := range wide(name, text) {
			t.Errorf("%s: a comment of more than %d columns: %s", name, mostColumns, line)
		}
	}
	if seen < 100 {
		t.Errorf("only %d files", seen)
	}
}

func TestWideCommentsAreFound(t *testing.T) {
	long := strings.Repeat("word ", 24)
	for name, lines := range map[string]int{
		"a.sh":     len(wide("a.sh", "# "+long+"\necho "+long+"\n# "+strings.ReplaceAll(long, " ", "-"))),
		"a.ts":     len(wide("a.ts", "  // "+long+"\n   * "+long[:100])),
		"Makefile": len(wide("tools/Makefile", "\t# "+long)),
	} {
		if lines != 1 {
			t.Errorf("%s: %d lines are too wide, want 1", name, lines)
		}
	}
}
