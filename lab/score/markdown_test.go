package score

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snag/lab"
)

func TestInsert(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	write := func(text string) {
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("# Page\n<!-- score -->\nold\n<!-- /score -->\nrest\n")
	for range 2 { // again gives the same
		if err := Insert(page, "score", "new\n"); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := os.ReadFile(page); string(got) != "# Page\n<!-- score -->\nnew\n<!-- /score -->\nrest\n" {
		t.Errorf("page:\n%s", got)
	}
	write("# Page\n<!-- score -->\nno end\n")
	if err := Insert(page, "score", "new\n"); err == nil || !strings.Contains(err.Error(), "<!-- /score -->") {
		t.Errorf("a page without the end mark: %v", err)
	}
	if got, _ := os.ReadFile(page); !strings.Contains(string(got), "no end") {
		t.Error("the page was changed all the same")
	}
}

func TestMarkdown(t *testing.T) {
	c := Case{Incidents: []lab.Incident{qdisc}, Variant: lab.Sick, Level: lab.Plain}
	m, err := MarkOf(c, said(t, "culprit udp-port-closed :5004 0.9"))
	if err != nil {
		t.Fatal(err)
	}
	r := Report{
		Date: time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC), Machine: Machine{Kernel: "6.18", CPUs: 2}, Command: "snag-lab score", Missing: 3,
		Sheets:  []Sheet{Sum("snag", []Mark{m}, true), Sum("thresholds", []Mark{Failed(c, "no tool")}, false)},
		Written: []Written{{Cause: "nic-ring-overflow", Guilty: 1, Innocent: 2, Blind: 1}},
	}
	var b strings.Builder
	if err := r.Markdown(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"2026-11-21 08:00 UTC", "2 CPUs, kernel 6.18: `snag-lab score`", "3 of the planned runs were not made",
		"| AC@1                     | 0.00   | 0.00       |", "| false accusations (runs) | 1 (1)  | 0 (0)      |",
		"| Brier score              | 0.8100 | –          |", "- `qdisc-drop-sick`: wrong: first is udp-port-closed on :5004",
		"| nic-ring-overflow | 1      | 2        | 1     | none  |",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in the tables", want)
		}
	}
	if t.Failed() {
		t.Log(b.String())
	}
}
