package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// Between these marks docs/flakes.md is written; the causes in it are a person's.
const begin, end = "<!-- make flakes writes this -->", "<!-- to here -->"

// noCause stands where nobody has found the cause yet.
const noCause = "not known yet"

// A row is one run of all tests: what came of it, and which tests failed once.
type row struct {
	begun, commit, came string
	flaky               []string
}

// writeTable adds the runs that a folder holds to those of the page, and leaves the
// causes that are there. Machines come and go with their folders; the page stays.
func writeTable(page, dir string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(text), begin)
	old, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return fmt.Errorf("%s lacks the lines %q and %q", page, begin, end)
	}
	rows, known := parse(old)
	if err := addRuns(rows, dir); err != nil {
		return err
	}
	return os.WriteFile(page, []byte(before+begin+"\n"+tables(rows, known)+end+after), 0o644)
}

// parse reads the page's runs, by when they began, and the causes, by test.
func parse(old string) (rows map[string]*row, causes map[string]string) {
	rows, causes = map[string]*row{}, map[string]string{}
	for line := range strings.Lines(old) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case len(cells) == 3 && strings.HasPrefix(cells[0], "`"):
			causes[strings.Trim(cells[0], "`")] = cells[2]
		case len(cells) == 4 && strings.HasPrefix(cells[0], "20"):
			r := &row{begun: cells[0], commit: cells[1], came: cells[2]}
			for _, name := range strings.Split(cells[3], ", ") {
				if name != "" && name != "–" {
					r.flaky = append(r.flaky, strings.Trim(name, "`"))
				}
			}
			rows[r.begun] = r
		}
	}
	return rows, causes
}

// addRuns adds what a folder holds: a run's tests and its score are two lines of one.
func addRuns(rows map[string]*row, dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, runs))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	fresh := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		f := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if len(f) < 3 {
			continue
		}
		came, _, _ := strings.Cut(f[2], " (")
		if r := rows[f[0]]; r == nil {
			rows[f[0]] = &row{begun: f[0], commit: f[1], came: came}
			fresh[f[0]] = true
		} else if fresh[f[0]] {
			r.came += "; " + came
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*-*.txt"))
	if err != nil {
		return err
	}
	for _, file := range files {
		head, err := headOf(file)
		if err != nil {
			return err
		}
		if begun := head["run begun"]; head["outcome"] == passedAlone && fresh[begun] && !slices.Contains(rows[begun].flaky, head["test"]) {
			rows[begun].flaky = append(rows[begun].flaky, head["test"])
		}
	}
	return nil
}

// headOf reads the lines "name: value" that a kept run begins with.
func headOf(file string) (map[string]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := map[string]string{}
	s := bufio.NewScanner(f)
	for s.Scan() && s.Text() != "" {
		key, value, _ := strings.Cut(s.Text(), ": ")
		head[key] = value
	}
	return head, s.Err()
}

func tables(rows map[string]*row, causes map[string]string) string {
	failed := map[string]int{}
	var all []*row
	for _, r := range rows {
		all = append(all, r)
		for _, name := range r.flaky {
			failed[name]++
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].begun < all[j].begun })
	names := make([]string, 0, len(failed))
	for name := range failed {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool {
		if failed[names[i]] != failed[names[j]] {
			return failed[names[i]] > failed[names[j]]
		}
		return names[i] < names[j]
	})
	var b strings.Builder
	fmt.Fprintf(&b, "\n| test | failed once, of %d runs | cause |\n|---|---|---|\n", len(all))
	for _, name := range names {
		cause := causes[name]
		if cause == "" {
			cause = noCause
		}
		fmt.Fprintf(&b, "| `%s` | %d | %s |\n", name, failed[name], cause)
	}
	b.WriteString("\n| run begun | commit | what came of it | failed once |\n|---|---|---|---|\n")
	for _, r := range all {
		flaky := "–"
		if sort.Strings(r.flaky); len(r.flaky) > 0 {
			flaky = "`" + strings.Join(r.flaky, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.begun, r.commit, r.came, flaky)
	}
	b.WriteString("\n")
	return b.String()
}
