package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// Between these marks docs/flakes.md is written; the causes in it are a person's.
const begin, end = "<!-- make flakes writes this -->", "<!-- to here -->"

// noCause stands where nobody has found the cause yet.
const noCause = "not known yet"

// writeTable counts the flaky tests of all runs that a folder holds into the page, and
// leaves the causes that are there.
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
	n, err := lines(filepath.Join(dir, runs))
	if err != nil {
		return err
	}
	failed, err := count(dir)
	if err != nil {
		return err
	}
	return os.WriteFile(page, []byte(before+begin+"\n"+tableOf(n, failed, causes(old))+end+after), 0o644)
}

func lines(path string) (n int, err error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	return strings.Count(string(b), "\n"), err
}

// count is in how many runs each test was flaky.
func count(dir string) (map[string]int, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*-*.txt"))
	if err != nil {
		return nil, err
	}
	failed := map[string]int{}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		head := map[string]string{}
		for s := bufio.NewScanner(f); s.Scan() && s.Text() != ""; {
			key, value, _ := strings.Cut(s.Text(), ": ")
			head[key] = value
		}
		_ = f.Close()
		if head["outcome"] == passedAlone {
			failed[head["test"]]++
		}
	}
	return failed, nil
}

// causes are what the page says so far, by test.
func causes(old string) map[string]string {
	known := map[string]string{}
	for line := range strings.Lines(old) {
		if cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|"); len(cells) == 3 {
			known[strings.Trim(cells[0], " `")] = strings.TrimSpace(cells[2])
		}
	}
	return known
}

func tableOf(n int, failed map[string]int, known map[string]string) string {
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
	fmt.Fprintf(&b, "\n| test | failed once, of %d runs | cause |\n|---|---|---|\n", n)
	for _, name := range names {
		cause := known[name]
		if cause == "" {
			cause = noCause
		}
		fmt.Fprintf(&b, "| `%s` | %d | %s |\n", name, failed[name], cause)
	}
	b.WriteString("\n")
	return b.String()
}
