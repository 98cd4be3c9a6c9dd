package drawn

import (
	"fmt"
	"testing"
)

// some families: three with a fault, one that rules the machine, one healthy.
func some() []Family {
	fault := []Fault{{Name: "broken", Suspects: []string{"packet-loss"}}}
	return []Family{
		{Name: "a", Faults: fault}, {Name: "b", Faults: fault}, {Name: "c", Faults: fault},
		{Name: "alone", Faults: fault, Alone: true}, {Name: "well", Origin: Healthy},
	}
}

func TestPlan(t *testing.T) {
	const n = 200
	cases := Plan(some(), 7, n)
	first, keys, pairs := map[string]int{}, map[string]bool{}, 0
	for i, c := range cases {
		if c.Seed%2 != 1 || c.Seed > 7+2*n {
			t.Fatalf("seed %d in a plan of odd ones", c.Seed)
		}
		if keys[c.Key()] {
			t.Fatalf("%s twice", c.Key())
		}
		keys[c.Key()] = true
		if c.Faulty {
			if cases[i-1].Seed != c.Seed || cases[i-1].Faulty || fmt.Sprint(cases[i-1].Key()[:8]) != c.Key()[:8] {
				t.Fatalf("%s comes without its healthy run before it", c.Key())
			}
			continue
		}
		first[c.Families[0].Name]++
		if len(c.Families) > 1 {
			pairs++
			for _, f := range c.Families {
				if f.Alone || f.Name == "well" {
					t.Fatalf("%s may not have another beside it", f.Name)
				}
			}
		}
	}
	for name, k := range first {
		if k != n/5 {
			t.Errorf("%s drawn %d times of %d", name, k, n)
		}
	}
	if pairs < 3 || pairs > 30 {
		t.Errorf("%d pairs of %d draws", pairs, n)
	}
	if again := Plan(some(), 7, n); fmt.Sprint(again[30].Key()) != cases[30].Key() {
		t.Error("the same seed gives another plan")
	}
	if more := Plan(some(), 7, n+5); more[100].Key() != cases[100].Key() {
		t.Error("more draws change the first ones")
	}
}

func TestShares(t *testing.T) {
	cases := Plan(some(), 6, 60)
	seen := map[string]int{}
	for k := range 3 {
		part := ShareOf(cases, k, 3)
		if len(part) < 20 {
			t.Errorf("part %d has %d of %d runs", k+1, len(part), len(cases))
		}
		for _, c := range part {
			seen[c.Key()]++
		}
	}
	for _, c := range cases {
		if seen[c.Key()] != 1 {
			t.Errorf("%s is in %d parts", c.Key(), seen[c.Key()])
		}
	}
}
