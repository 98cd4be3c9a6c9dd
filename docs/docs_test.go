// Package docs tests the documents: every suspect, probe and link has what it
// points to.
package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"snag/probes"
	"snag/recording"
	"snag/remedies/knob"
	"snag/report"
	"snag/suspects"
)

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestEverySuspectHasItsPage(t *testing.T) {
	for _, s := range suspects.All {
		if read(t, filepath.Join("suspects", s.Name+".md")) != report.Suspect(s) {
			t.Errorf("docs/suspects/%s.md is not what the code says: make docs", s.Name)
		}
	}
	files, err := filepath.Glob("suspects/*.md")
	if err != nil || len(files) != len(suspects.All) {
		t.Errorf("%d pages for %d suspects (%v)", len(files), len(suspects.All), err)
	}
}

func TestEveryKnobHasItsPage(t *testing.T) {
	pages := knob.Pages()
	for _, p := range pages {
		if read(t, filepath.Join("knobs", p.Name+".md")) != p.Markdown() {
			t.Errorf("docs/knobs/%s.md is not what the code says: make docs", p.Name)
		}
	}
	files, err := filepath.Glob("knobs/*.md")
	if err != nil || len(files) != len(pages) {
		t.Errorf("%d pages for %d kinds of knobs (%v)", len(files), len(pages), err)
	}
}

func TestEveryProbeAndMeasureHasItsPage(t *testing.T) {
	for _, p := range probes.All {
		page := read(t, filepath.Join("probes", p.Name+".md"))
		for _, m := range recording.Measures {
			if strings.HasPrefix(m, p.Name+".") && !strings.Contains(page, "`"+m+"`") {
				t.Errorf("docs/probes/%s.md does not tell of %s", p.Name, m)
			}
		}
	}
}

func TestEveryTableIsDocumented(t *testing.T) {
	page := read(t, "recording.md")
	for _, name := range recording.TableNames() {
		if !strings.Contains(page, name) {
			t.Errorf("docs/recording.md does not tell of the table %s", name)
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)#]+)(#[^)]*)?\)`)

func TestEveryLinkResolves(t *testing.T) {
	err := filepath.Walk("..", func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		if info.IsDir() && (info.Name() == ".git" || info.Name() == "testdata" || info.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".md") {
			return nil
		}
		for _, m := range link.FindAllStringSubmatch(read(t, path), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			to := filepath.Join(filepath.Dir(path), m[1])
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s: %v", path, m[1], err)
			} else if m[2] != "" && !slices.Contains(anchors(read(t, to)), m[2][1:]) {
				t.Errorf("%s links to %s%s: no heading of that page has this anchor", path, m[1], m[2])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// anchors are those that GitHub gives to the headings of a page.
func anchors(page string) (out []string) {
	for _, m := range regexp.MustCompile("(?m)^#+ (.*)$").FindAllStringSubmatch(page, -1) {
		text := strings.ToLower(strings.ReplaceAll(m[1], "`", ""))
		text = regexp.MustCompile(`[^\pL\pN _-]`).ReplaceAllString(text, "")
		out = append(out, strings.ReplaceAll(text, " ", "-"))
	}
	return out
}

func TestAnchorsAreGitHubs(t *testing.T) {
	page := "# snag tune: from A to B\n\ntext\n\n## What does it cost?\n### It says \"nothing wrong\", and it hurts\n## `snag find` in short\n"
	want := []string{"snag-tune-from-a-to-b", "what-does-it-cost", "it-says-nothing-wrong-and-it-hurts", "snag-find-in-short"}
	if got := anchors(page); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The README is short, and shows a real run before the two commands.
func TestTheReadmeIsShort(t *testing.T) {
	readme := read(t, "../README.md")
	if n := strings.Count(readme, "\n"); n > 150 {
		t.Errorf("the README has %d lines, 150 at most", n)
	}
	picture, run, commands := strings.Index(readme, "!["), strings.Index(readme, "\nCULPRIT"), strings.Index(readme, "    make demo")
	if picture < 0 || run < picture || commands < run {
		t.Errorf("picture at %d, run at %d, commands at %d: in this order", picture, run, commands)
	}
}

// Every page is in the index.
func TestTheIndexHasEveryPage(t *testing.T) {
	index := read(t, "README.md")
	files, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f != "README.md" && !strings.Contains(index, "]("+f) {
			t.Errorf("docs/README.md has no link to %s", f)
		}
	}
}

func TestTheReadmesCommandsExist(t *testing.T) {
	makefile := read(t, "../Makefile")
	named := regexp.MustCompile("(?m)(?:^    |`)make ([a-z-]+)").FindAllStringSubmatch(read(t, "../README.md"), -1)
	if len(named) < 2 {
		t.Fatal("the README names no commands")
	}
	for _, m := range named {
		if !regexp.MustCompile(`(?m)^` + m[1] + `:`).MatchString(makefile) {
			t.Errorf("the README names make %s, which the Makefile has not", m[1])
		}
	}
}
