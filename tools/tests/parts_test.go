package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// All tests of a package that is split run, each once, and those that run beside others
// are there.
func TestSplit(t *testing.T) {
	all := split([]pkg{{ImportPath: "snag/lab/all", TestImports: []string{"snag/lab/labtest"}}, {ImportPath: "snag/probes"}})
	if len(all) != 4 || all[0].way() != beside || all[1].way() != beside || all[2].way() != paired || all[3].flags != nil {
		t.Fatalf("%+v", all)
	}
	if run := flagOf(all[0], "run") + "|" + flagOf(all[1], "run"); run != flagOf(all[2], "skip") {
		t.Errorf("%s run beside others, and alone all but %s", run, flagOf(all[2], "skip"))
	}
	for path, patterns := range parts {
		named := map[string]int{}
		for _, tests := range patterns {
			for _, name := range strings.Split(strings.Trim(strings.TrimPrefix(tests, "^Test"), "()$"), "|") {
				named[name]++
			}
		}
		text := testsOf(t, path)
		for name, times := range named {
			if !strings.Contains(text, "func Test"+name+"(t *testing.T)") {
				t.Errorf("%s has no test Test%s", path, name)
			}
			if times > 1 {
				t.Errorf("Test%s of %s would run %d times", name, path, times)
			}
		}
	}
}

func flagOf(p pkg, name string) string {
	return strings.TrimPrefix(p.flags[0], "-test."+name+"=")
}

// testsOf is the text of a package's tests.
func testsOf(t *testing.T, path string) (text string) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join("../..", strings.TrimPrefix(path, "snag/"), "*_test.go"))
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		text += string(b)
	}
	return text
}
