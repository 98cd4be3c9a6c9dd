package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// replacement is a phrase and what is written in its place.
type replacement struct {
	phrase  *regexp.Regexp
	instead string
}

// replaced are phrases that users no longer read, and what is written in their place
// (docs/glossary.md has the terms). Each is so special that no ordinary sentence has it.
var replaced = []replacement{
	{regexp.MustCompile(`\bmore like (it|its)\b`), "2 more processes named python3"},
	{regexp.MustCompile(`\b(answers|bits|bytes|connections|frames|interrupts|messages|packets|pictures|requests|samples|times|%[sd]|[0-9]+) a second($|[^ ']| [^a])`), "50 requests per second"},
	{regexp.MustCompile(`\bCPU (an operation|a request)($|[^ ]| [^t])`), "CPU per request"},
	{regexp.MustCompile(`\b(its own|its) d (grew|by)\b`), "the socket's drop counter grew by"},
	{regexp.MustCompile(`\bat (%d|%s|[0-9]+|each|all|most) (of (%d|%s|[0-9]+) )?looks\b`), "in 10 of 10 samples"},
	{regexp.MustCompile(`\bsince before ([0-9%]|\b(when|the recording)\b)`), "already so when the recording began at 11:55"},
	{regexp.MustCompile(`nothing that snag knows`), "unrecognised format"},
	{regexp.MustCompile(`\bnobody here reads\b`), `unknown scheme "rtmpp"; did you mean "rtmp"?`},
	{regexp.MustCompile(`\bwhom to sample\b|\bwhose calls\?`), "name a target: --pid, --unit or --port"},
	{regexp.MustCompile(`[A-Za-z_] ← [A-Za-z_]+ ← `), "whole(), called by ask(), called by worker()"},
	{regexp.MustCompile(`has a stack that was cut`), "a stack that is cut short"},
	{regexp.MustCompile(`\bl(ay|ies|ie) unread\b`), "waited unread in the socket buffer"},
	{regexp.MustCompile(`\bheld [0-9.]+ m?s\b|\bwrites were held\b|\bheld by Nagle|\bheld writes\b`), "delayed 44 ms by Nagle's algorithm"},
	{regexp.MustCompile(`\bheld back by its quota`), "throttled by its quota"},
	{regexp.MustCompile(`\b(1|%d) more culprits\b`), "1 more culprit"},
	{regexp.MustCompile(`\bst(ands|and|ood) still\b`), "stopped, was paused; of a counter: did not grow"},
	{regexp.MustCompile(`\b(is|was|are|were) not told\b`), "is not known, is not reported"},
	{regexp.MustCompile(`\bnothing tells\b|\btells nothing\b`), "nothing shows"},
	{regexp.MustCompile(`\b(does|do) not tell\b`), "does not say, does not show"},
	{regexp.MustCompile(`\bnobody (felt|feels) it\b`), "no client was affected"},
	{regexp.MustCompile(`\bgave way\b|\bwent wrong\b`), "failed"},
	{regexp.MustCompile(`\b(is|was) caught on\b`), "is blocked by"},
	{regexp.MustCompile(`asks of another takes long`), "a dependency is slow"},
	{regexp.MustCompile(`\bmay not be (read|seen|written|looked)\b`), "can't be read"},
	{regexp.MustCompile(`\bwhile all is well\b|\bis well again\b`), "while all is healthy"},
	{regexp.MustCompile(`(%q|%d|%s|\bit) is no (number|file|address|rate|size|queue|name|plan|time|port|limit|folder|unit)\b`), `"x" is not a number`},
	{regexp.MustCompile(`\bnobody (listens|listened)\b`), "nothing listens there"},
	{regexp.MustCompile(`\bnobody was (seen|hurt|refused|answered)\b`), "no client was seen waiting"},
	{regexp.MustCompile(`\b(hurts?|refuse[sd]|harms) nobody\b`), "affects no client"},
	{regexp.MustCompile(`\b(connect|[Ss]tarted) again by itself\b|\bends? by (itself|themselves)\b`), "reconnect automatically; ends on its own"},
	{regexp.MustCompile(`\ba (CPU|disk|file system|pool) of (its|their) own\b`), "a dedicated CPU; a separate disk; its own pool"},
	{regexp.MustCompile(`\bwhose (these sockets are|sockets they are|packets they were)\b`), "which process owns these sockets"},
	{regexp.MustCompile(`%q is no [a-z]`), `"x" is not a port`},
	{regexp.MustCompile(`\bnobody is stuck\b`), "no thread is stuck"},
	{regexp.MustCompile(`\bnobody was proved\b`), "no cause was proved"},
	{regexp.MustCompile(`\bby (itself|themselves)\b`), "separately; on its own"},
	{regexp.MustCompile(`\b(and|or) the like\b`), "such as, similar"},
	{regexp.MustCompile(`\b(is|are|was|were|been) well([,.;:)]| again| and (%s|it|the)\b| as \w+'s\b| or frozen)`), "is healthy"},
	{regexp.MustCompile(`\b(is|was|are|were|nobody) felt\b|\bwhat is felt\b|\bfelt (by|when|as soon)\b`), "noticed by clients; was there"},
	{regexp.MustCompile(`\bthe sick first\b`), "the faulty first"},
	{regexp.MustCompile(`\b[Ww]hom\b`), "split the sentence; name what it is"},
	{regexp.MustCompile(`\bworst second\b`), "the second with the highest loss"},
	{regexp.MustCompile(`\b[Ss]ome ([0-9]|%d)`), "about 30 µs"},
	{regexp.MustCompile(`\banew\b`), "again"},
	{regexp.MustCompile(`\b[Hh]ow it is told\b|\bnever told\b|\btells the two apart\b`), "what shows it; is not reported"},
}

func TestReplacedPhrasesAreGone(t *testing.T) {
	check := func(where, text string) {
		for _, r := range replaced {
			if found := r.phrase.FindString(text); found != "" {
				t.Errorf("%s: %q is now written %q", where, found, r.instead)
			}
		}
	}
	seen := 0
	for _, page := range pages(t) {
		for i, line := range strings.Split(read(t, page), "\n") {
			check(page+":"+strconv.Itoa(i+1), line)
		}
		seen++
	}
	for _, page := range filesBelow(t, "../ui/src", ".ts") {
		for i, line := range strings.Split(read(t, page), "\n") {
			if text := strings.TrimSpace(line); !strings.HasPrefix(text, "//") && !strings.HasPrefix(text, "/*") && !strings.HasPrefix(text, "*") {
				check(page+":"+strconv.Itoa(i+1), line)
			}
		}
		seen++
	}
	literals(t, func(where, text string) { check(where, text); seen++ })
	if seen < 5000 {
		t.Errorf("only %d pages and strings were checked", seen)
	}
}

// Each expression finds the phrase that it is for, and not what replaces it.
func TestReplacedPhrasesAreFound(t *testing.T) {
	for i, old := range []string{
		"2 more like its", "3 answers a second.", "9 µs of CPU a request.", "its own d by 1,206", "at 10 of 10 looks", "since before 11:55", "it is nothing that snag knows",
		"nobody here reads rtmpp://", "whom to sample?", "in whole ← ask ← worker", "0 % of it has a stack that was cut",
		"requests lay unread", "held 44 ms", "held back by its quota", "and 1 more culprits", "the counter stands still",
		"that is not told", "nothing tells", "it does not tell", "nobody felt it", "it gave way", "what it is caught on",
		"what a service asks of another takes long", "it may not be read", "while all is well",
		`%q is no number`, "refused: nobody listens there", "nobody was seen waiting", "it hurts nobody", "have it connect again by itself",
		"give it a CPU of its own", "whose packets they were",
		`%q is no role: %v`, "nobody is stuck", "nobody was proved to cause it", "it is judged by itself", "H.264 and the like",
		"it was well and the other was not", "when it was felt by clients", "a table, the sick first", "whom it asks", "what came in the worst second",
		"some 30 µs", "its timestamps begin anew", "how it is told",
	} {
		if !replaced[i].phrase.MatchString(old) {
			t.Errorf("%s does not find %q", replaced[i].phrase, old)
		}
		if replaced[i].phrase.MatchString(replaced[i].instead) {
			t.Errorf("%s finds what replaces it: %q", replaced[i].phrase, replaced[i].instead)
		}
	}
}

// What is a pattern of fmt in the code is a number in what users read.
func TestReplacedPhrasesAreFoundInPatterns(t *testing.T) {
	for _, text := range []string{"they were asleep in a call at %d of %s looks", "at %s of %s looks", "at all looks"} {
		if !slices.ContainsFunc(replaced, func(r replacement) bool { return r.phrase.MatchString(text) }) {
			t.Errorf("nothing finds %q", text)
		}
	}
}

// pages are the README and all pages of docs.
func pages(t *testing.T) []string {
	t.Helper()
	return append([]string{"../README.md"}, filesBelow(t, ".", ".md")...)
}

// filesBelow are the files of a folder whose names end so.
func filesBelow(t *testing.T, dir, end string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, end) {
			out = append(out, path)
		}
		return err
	})
	if err != nil || len(out) == 0 {
		t.Fatalf("%s: %d files that end with %s: %v", dir, len(out), end, err)
	}
	return out
}

// literals calls f for each string of the code that users may read: those of its packages,
// without tests, import paths and the tags of fields.
func literals(t *testing.T, f func(where, text string)) {
	t.Helper()
	for _, root := range []string{"cmd/snag", "report", "suspects", "remedies", "verdict", "probes", "scene", "ledger", "readers", "compare", "recorder", "recording", "load", "serve", "fleet", "internal"} {
		err := filepath.WalkDir(filepath.Join("..", root), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && d.Name() == "testdata" {
				return filepath.SkipDir
			}
			if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				return literalsOf(path, f)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func literalsOf(path string, f func(where, text string)) error {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, 0)
	if err != nil {
		return err
	}
	no := map[*ast.BasicLit]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			no[n.Path] = true
		case *ast.Field:
			no[n.Tag] = true
		case *ast.BasicLit:
			if n.Kind == token.STRING && !no[n] {
				f(files.Position(n.Pos()).String(), n.Value)
			}
		}
		return true
	})
	return nil
}
