package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// events is a run in which n tests failed, each with a subtest, and one passed.
func events(n int) string {
	var b strings.Builder
	b.WriteString(`{"Action":"pass","Package":"p","Test":"TestGood"}` + "\n")
	for i := range n {
		name := "Test" + string(rune('A'+i))
		for _, line := range []string{
			`{"Action":"output","Package":"p","Test":"` + name + `","Output":"before\n"}`,
			`{"Action":"output","Package":"p","Test":"` + name + `/sub","Output":"a line that passed\n"}`,
			`{"Action":"pass","Package":"p","Test":"` + name + `/sub"}`,
			`{"Action":"output","Package":"p","Test":"` + name + `/bad","Output":"the reason\n"}`,
			`{"Action":"fail","Package":"p","Test":"` + name + `/bad"}`,
			`{"Action":"fail","Package":"p","Test":"` + name + `"}`,
		} {
			b.WriteString(line + "\n")
		}
	}
	if n > 0 {
		b.WriteString(`{"Action":"fail","Package":"p","Elapsed":1}` + "\n")
	}
	return b.String()
}

func TestClosingLine(t *testing.T) {
	passes := func(test) (string, bool) { return "the second run", true }
	fails := func(test) (string, bool) { return "the second run", false }
	for _, c := range []struct {
		name   string
		failed int
		run    func(test) (string, bool)
		line   string
		ok     bool
	}{
		{"all well", 0, nil, "1 passed, 0 failed, 0 skipped", true},
		{"flaky within the budget", budget, passes, "3 passed, 0 failed, 0 skipped, 2 flaky (failed once, passed alone; kept in FLAKES)", true},
		{"flaky above the budget", budget + 1, passes, "4 passed, 0 failed, 0 skipped, 3 flaky (failed once, passed alone; kept in FLAKES): more than the 2 that a run may have", false},
		{"failed twice", 1, fails, "2 passed, 2 failed, 0 skipped", false},
		{"too many to run again", again + 1, passes, "6 passed, 10 failed, 0 skipped", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			kept := newKeeper(dir)
			r := read(strings.NewReader(events(c.failed)), t.Output())
			r.tryAgain(t.Output(), c.run, kept)
			if line, ok := r.closing("FLAKES"); line != c.line || ok != c.ok {
				t.Errorf("%q %v, want %q %v", line, ok, c.line, c.ok)
			}
			if files, _ := filepath.Glob(filepath.Join(dir, "*.txt")); len(files) != c.failed {
				t.Errorf("%d failed and these are kept: %v", c.failed, files)
			}
		})
	}
}

func TestFailedRunIsKeptWholeAndNeverOverwritten(t *testing.T) {
	dir := t.TempDir()
	kept := newKeeper(dir)
	for _, second := range []string{"one", "two"} {
		r := read(strings.NewReader(events(1)), t.Output())
		r.tryAgain(t.Output(), func(test) (string, bool) { return second, true }, kept)
		kept.run("closing")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "p-TestA-*.txt"))
	if len(files) != 2 {
		t.Fatal(files)
	}
	for i, second := range []string{"one", "two"} {
		b, err := os.ReadFile(files[i])
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"test: p TestA\n", "outcome: passed alone\n", "commit: ", "before\na line that passed\nthe reason\n", "alone:\n" + second} {
			if !strings.Contains(string(b), want) {
				t.Errorf("%s lacks %q:\n%s", files[i], want, b)
			}
		}
	}

}

// The page counts its own runs, of machines that are gone, and those of the folder, once.
func TestRunsAreAddedToThePage(t *testing.T) {
	dir := t.TempDir()
	page := filepath.Join(dir, "page.md")
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	table := func(tests, runs string) string {
		return "# Before\n" + begin + "\n\n| test | failed once, of " + fmt.Sprint(strings.Count(runs, "\n")) + " runs | cause |\n|---|---|---|\n" + tests +
			"\n| run begun | commit | what came of it | failed once |\n|---|---|---|---|\n" + runs + "\n" + end + "\nafter\n"
	}
	first := "| 20261101T000000Z | abc | 7 passed, 1 flaky | `p TestA` |\n"
	put("page.md", table("| `p TestA` | 1 | the clock |\n", first))
	put("runs.txt", "20261102T000000Z def 8 passed, 2 flaky (kept in a folder)\n20261102T000000Z def 5 of 6 runs were right, 1 flaky (kept)\n20261103T000000Z def 9 passed\n")
	kept := "\noutcome: passed alone\nrun begun: 20261102T000000Z\n\nwhat it said\n"
	put("p-TestA-1.txt", "test: p TestA"+kept)
	put("p-TestB-1.txt", "test: p TestB"+kept)
	put("score-short-x-1.txt", "test: score-short x"+kept)
	put("p-TestC-1.txt", strings.Replace("test: p TestC"+kept, passedAlone, "failed again", 1))
	for range 2 { // what it wrote it reads again
		if err := writeTable(page, dir); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want := table("| `p TestA` | 2 | the clock |\n| `p TestB` | 1 | not known yet |\n| `score-short x` | 1 | not known yet |\n",
		first+"| 20261102T000000Z | def | 8 passed, 2 flaky; 5 of 6 runs were right, 1 flaky | `p TestA`, `p TestB`, `score-short x` |\n| 20261103T000000Z | def | 9 passed | – |\n")
	if string(b) != want {
		t.Errorf("%s\nwant\n%s", b, want)
	}
}

// What a panic kept from running is run too.
func TestAPackageThatCrashedIsRunWhole(t *testing.T) {
	text := strings.Replace(events(2), `"Output":"the reason\n"`, `"Output":"panic: index out of range\n"`, 1)
	r := read(strings.NewReader(text), t.Output())
	var ran []test
	r.tryAgain(t.Output(), func(one test) (string, bool) { ran = append(ran, one); return "", true }, newKeeper(t.TempDir()))
	if len(ran) != 1 || ran[0].name != "" || ran[0].pkg != "p" || !strings.Contains(strings.Join(ran[0].output, ""), "the reason\n") {
		t.Errorf("%+v", ran)
	}
	if line, ok := r.closing("FLAKES"); !ok || !strings.Contains(line, " 0 failed") || r.flaky != 1 {
		t.Error(line, ok)
	}
}

func TestAPackageThatDoesNotBuildFails(t *testing.T) {
	r := read(strings.NewReader(`{"Action":"pass","Package":"p","Test":"TestGood"}
{"Action":"output","Package":"q","Output":"it does not build\n"}
{"Action":"fail","Package":"q"}
`), t.Output())
	r.tryAgain(t.Output(), nil, newKeeper(t.TempDir()))
	if line, ok := r.closing("FLAKES"); ok || line != "1 passed, 1 failed, 0 skipped" {
		t.Error(line, ok)
	}
}
