package plan

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

func schema(t *testing.T) (*jsonschema.Schema, []byte) {
	t.Helper()
	text, err := os.ReadFile("plan.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("plan", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("plan")
	if err != nil {
		t.Fatal(err)
	}
	return s, text
}

// asJSON is a plan's text as JSON, by way of what any reader of YAML makes of it.
func asJSON(t *testing.T, text []byte) []byte {
	t.Helper()
	var v any
	if err := yaml.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// full has every field set.
func full() *Plan {
	queue := 3
	return &Plan{
		Version: Version, Snag: "1.0", Made: At(time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)), Host: "relay1", Kernel: "6.1.0",
		For: Cause{Suspect: "qdisc-drop", Subject: "eth0", Text: "drops", Role: "cache", Recording: "/tmp/now"},
		Changes: []Change{{ID: "1", Now: "100", Then: "1000", Why: "a burst", Risk: "latency", Needs: "fq", For: "qdisc-drop", Check: "tc -s", Source: "net/sched", Persists: "a unit", With: []string{"2"},
			Target: Target{Kind: "qdisc", Name: "limit", Netns: "a", Device: "eth0", Queue: &queue, Parent: "8001:4", IRQ: 33, Route: "default", Unit: "x.service", Path: "/x", PID: 8, Started: 9}}},
		Advice:    []Advice{{Who: "relay[8]", Do: "listen(fd, 4096)", Why: "it asks for 5"}},
		Conflicts: []string{"x"}, Covered: []string{"y"},
		Verify: Check{Symptom: "datagrams-lost", Subject: "eth0", Before: 3.5, Unit: "datagrams", For: "30s"},
	}
}

func TestAPlanAsJSONIsTheSamePlan(t *testing.T) {
	s, _ := schema(t)
	text, err := full().Text()
	if err != nil {
		t.Fatal(err)
	}
	b := asJSON(t, text)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(doc); err != nil {
		t.Error(err)
	}
	p, err := Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(p, full()) {
		again, _ := p.Text()
		t.Errorf("read from JSON:\n%s\nwas:\n%s", again, text)
	}
}

func TestTheSchemaRefusesWhatParseRefuses(t *testing.T) {
	s, _ := schema(t)
	for _, text := range []string{
		`{"version": 2, "for": {}}`, `{"version": 1}`, `{"version": 1, "for": {}, "x": 1}`,
		`{"version": 1, "for": {}, "changes": [{"id": "1", "target": {"kind": "sysctl"}, "now": "1", "than": "2", "why": ""}]}`,
		`{"version": 1, "for": {}, "changes": [{"id": "1", "target": {"kind": "sysctl", "device": "../x"}, "now": "1", "then": "2", "why": ""}]}`,
	} {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if s.Validate(doc) == nil {
			t.Errorf("the schema takes %s", text)
		}
	}
}

// Every key of the file is in the schema and on the page, and the schema has no other.
func TestEveryKeyIsDocumented(t *testing.T) {
	_, text := schema(t)
	var doc struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Defs       map[string]struct {
			Properties map[string]json.RawMessage `json:"properties"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/plan-file.md")
	if err != nil {
		t.Fatal(err)
	}
	inner := func(name string) map[string]json.RawMessage {
		var v struct {
			Properties map[string]json.RawMessage `json:"properties"`
			Items      struct {
				Properties map[string]json.RawMessage `json:"properties"`
			} `json:"items"`
		}
		if err := json.Unmarshal(doc.Properties[name], &v); err != nil {
			t.Fatal(err)
		}
		if v.Items.Properties != nil {
			return v.Items.Properties
		}
		return v.Properties
	}
	for _, c := range []struct {
		typ    reflect.Type
		prefix string
		have   map[string]json.RawMessage
	}{
		{reflect.TypeFor[Plan](), "", doc.Properties}, {reflect.TypeFor[Cause](), "for.", inner("for")}, {reflect.TypeFor[Check](), "verify.", inner("verify")},
		{reflect.TypeFor[Advice](), "advice[].", inner("advice")},
		{reflect.TypeFor[Change](), "changes[].", doc.Defs["change"].Properties}, {reflect.TypeFor[Target](), "changes[].target.", doc.Defs["target"].Properties},
	} {
		keys := map[string]bool{}
		for i := range c.typ.NumField() {
			key, _, _ := strings.Cut(c.typ.Field(i).Tag.Get("yaml"), ",")
			keys[key] = true
			if _, ok := c.have[key]; !ok {
				t.Errorf("plan.schema.json has no %s%s", c.prefix, key)
			}
			if bytes.Count(page, []byte("| `"+c.prefix+key+"` |")) != 1 {
				t.Errorf("docs/plan-file.md has not one row for `%s%s`", c.prefix, key)
			}
		}
		for key := range c.have {
			if !keys[key] {
				t.Errorf("plan.schema.json has %s%s, which no plan has", c.prefix, key)
			}
		}
	}
}

func TestTheExamplesOfThePageAreValid(t *testing.T) {
	page, err := os.ReadFile("../../docs/plan-file.md")
	if err != nil {
		t.Fatal(err)
	}
	s, _ := schema(t)
	found := 0
	for i, block := range strings.Split(string(page), "```") {
		body, ok := strings.CutPrefix(block, "yaml\n")
		if i%2 == 0 || !ok {
			continue
		}
		found++
		if _, err := Parse([]byte(body)); err != nil {
			t.Errorf("%v\n%s", err, body)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON(t, []byte(body))))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(doc); err != nil {
			t.Error(err)
		}
	}
	if found == 0 {
		t.Error("the page has no example")
	}
}
