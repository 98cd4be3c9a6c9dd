package remedies

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"snag/remedies/plan"
	"snag/suspects/suspect"
)

// host is one whose settings are a map, by the target's name.
func hostWith(now map[string]string) Here {
	return Here{
		Read: func(t plan.Target) (string, error) {
			v, ok := now[t.Name]
			if !ok {
				return "", errors.New("it has none")
			}
			return v, nil
		},
		Same: func(_ plan.Target, a, b string) bool { return a == b },
	}
}

func set(name, value string, with ...func(*suspect.Setting)) suspect.Setting {
	s := suspect.Setting{Kind: "sysctl", Name: name, Value: value, Why: "for " + name}
	for _, f := range with {
		f(&s)
	}
	return s
}

func either(s *suspect.Setting)  { s.Either = "e" }
func group(s *suspect.Setting)   { s.Group = "g" }
func atLeast(s *suspect.Setting) { s.AtLeast = true }

func TestTheFewestChanges(t *testing.T) {
	for name, c := range map[string]struct {
		now    map[string]string
		of     [][]suspect.Setting // of each culprit
		want   []string
		advice string
	}{
		"one":                          {map[string]string{"a": "1"}, [][]suspect.Setting{{set("a", "2")}}, []string{"a 1>2"}, ""},
		"of those enough, the first":   {map[string]string{"a": "1", "b": "1"}, [][]suspect.Setting{{set("a", "2", either), set("b", "2", either)}}, []string{"a 1>2"}, ""},
		"the first that can be set":    {map[string]string{"b": "1"}, [][]suspect.Setting{{set("a", "2", either), set("b", "2", either)}}, []string{"b 1>2"}, ""},
		"the first is so already":      {map[string]string{"a": "2", "b": "1"}, [][]suspect.Setting{{set("a", "2", either), set("b", "2", either)}}, []string{"b 1>2"}, ""},
		"none can be set":              {nil, [][]suspect.Setting{{set("a", "2", either), set("b", "2", either)}}, nil, "sysctl b → 2"},
		"two that only hold together":  {map[string]string{"a": "1", "b": "1", "c": "1"}, [][]suspect.Setting{{set("c", "2"), set("a", "2", group), set("b", "2", group)}}, []string{"c 1>2", "a 1>2", "b 1>2 with 2"}, ""},
		"two culprits, one setting":    {map[string]string{"a": "1"}, [][]suspect.Setting{{set("a", "3")}, {set("a", "5")}}, []string{"a 1>5"}, ""},
		"both lower it":                {map[string]string{"a": "9"}, [][]suspect.Setting{{set("a", "3")}, {set("a", "5")}}, []string{"a 9>3"}, ""},
		"field by field":               {map[string]string{"a": "1 2 3"}, [][]suspect.Setting{{set("a", "1 2 9")}, {set("a", "1 5 4")}}, []string{"a 1 2 3>1 5 9"}, ""},
		"they want it different ways":  {map[string]string{"a": "5"}, [][]suspect.Setting{{set("a", "3")}, {set("a", "9")}}, []string{"a 5>3"}, ""},
		"it is so already":             {map[string]string{"a": "2"}, [][]suspect.Setting{{set("a", "2")}}, nil, "sysctl a → 2"},
		"larger already":               {map[string]string{"a": "8"}, [][]suspect.Setting{{set("a", "2", atLeast)}}, nil, "sysctl a → 2"},
		"a field is larger already":    {map[string]string{"a": "8 1"}, [][]suspect.Setting{{set("a", "2 2", atLeast)}}, []string{"a 8 1>8 2"}, ""},
		"a larger one is made smaller": {map[string]string{"a": "8"}, [][]suspect.Setting{{set("a", "2")}}, []string{"a 8>2"}, ""},
	} {
		b := builder{p: &plan.Plan{}, here: hostWith(c.now), at: map[string]int{}}
		for i, all := range c.of {
			b.settings(all, "culprit "+string(rune('a'+i)), "")
		}
		var got []string
		for _, ch := range b.p.Changes {
			text := ch.Target.Name + " " + ch.Now + ">" + ch.Then
			if len(ch.With) > 0 {
				text += " with " + strings.Join(ch.With, ",")
			}
			got = append(got, text)
		}
		told := ""
		for _, a := range b.p.Advice {
			told += a.Do
		}
		if !slices.Equal(got, c.want) || told != c.advice {
			t.Errorf("%s: %q, advice %q", name, got, told)
		}
		if name == "they want it different ways" && (len(b.p.Conflicts) != 1 || !strings.Contains(b.p.Conflicts[0], "culprit b wants 9")) {
			t.Errorf("%q", b.p.Conflicts)
		}
		if name == "two culprits, one setting" && b.p.Changes[0].For != "culprit a; culprit b" {
			t.Errorf("%+v", b.p.Changes[0])
		}
	}
}
