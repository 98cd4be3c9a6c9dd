// Package docs tests the documents: every suspect, probe and link has what it
// points to.
package docs

import (
	"os"
	"path/filepath"
	"regexp"
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
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", path, m[1], err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
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
