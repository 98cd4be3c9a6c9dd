package loaded

import (
	"encoding/json"
	"strings"
	"testing"

	"snag/load/elimination"
)

func resolved() Elimination {
	m := &elimination.Measures{Version: 1, Target: "http://api/a&b", Network: "tcp", Slow: 0.02, NoDelay: true,
		Fresh:   &elimination.Fresh{Whole: elimination.Times{N: 12, P50: 0.07, Most: 0.08}},
		Kept:    &elimination.Asked{Times: elimination.Times{N: 40, P50: 0.002, P90: 0.003}},
		Resolve: &elimination.Resolve{Times: elimination.Times{N: 5, P50: 0.062, P90: 0.063, Most: 0.063}},
		Done:    []string{elimination.TheRequest, elimination.Lookup}}
	m.Miss(elimination.OwnServer, "no socket")
	return Elimination{Measures: m, Story: elimination.Tell(m), Port: "8080"}
}

// First what was found, then the experiments, what is left with the next command, and what was not done.
func TestEliminationText(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	resolved().Text(&b)
	at := 0
	for _, want := range []string{
		"http://api/a&b: the name is resolved slowly or not at all. Looking up the name takes: 62 ms of 70 ms.\n",
		"\ntried\n", "look up the name: half within 62 ms", "finds resolver",
		"\nleft\n  FOUND  resolver", "next: on this host: sudo snag find (slow-dependency: snag suspects slow-dependency)",
		"\nnot measured\n", "\nnot done\n", "in snag's own process: no socket",
		"--all goes on", "snag eliminate 'http://api/a&b' --here --json\n",
	} {
		next := strings.Index(b.String()[at:], want)
		if next < 0 {
			t.Fatalf("no %q, in this order, in\n%s", want, b.String())
		}
		at += next
	}
}

// The measures are in the JSON as they were, so that --server can read them.
func TestEliminationJSON(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	if err := resolved().JSON(&b); err != nil {
		t.Fatal(err)
	}
	var out struct {
		First    string
		Left     []elimination.Standing
		Measures *elimination.Measures
	}
	if err := json.Unmarshal([]byte(b.String()), &out); err != nil {
		t.Fatal(err)
	}
	if out.Left[0].Suspect != "resolver" || out.Left[0].Cause != "slow-dependency" || out.Measures.Resolve.P50 != 0.062 || out.Measures.Path != nil || out.Measures.Missing["own"] != "no socket" {
		t.Errorf("%s", b.String())
	}
}
