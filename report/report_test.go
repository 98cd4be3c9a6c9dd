package report

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"snag/internal/shown"
	"snag/recording"
	"snag/recording/rectest"
	"snag/verdict"
)

// cases are all written cases of the suspects and the verdict: whatever they
// judge must be shown within the screen and by the schema.
func cases(t *testing.T) []*verdict.Verdict {
	t.Helper()
	out, err := judged()
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 10 {
		t.Fatalf("only %d written cases were found", len(out))
	}
	return out
}

// judged is done once for all tests: they only read.
var judged = sync.OnceValues(func() (out []*verdict.Verdict, err error) {
	for _, pattern := range []string{"../suspects/testdata/*/*.txtar", "../verdict/testdata/*.txtar"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			c, err := rectest.Load(f)
			if err != nil {
				return nil, err
			}
			out = append(out, verdict.Judge(c.Recording))
		}
	}
	return out, nil
})

func TestTextFitsOneScreen(t *testing.T) {
	for _, v := range cases(t) {
		var b bytes.Buffer
		if err := WriteText(&b, v, Options{}); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if len(lines) > 40 {
			t.Errorf("%d lines:\n%s", len(lines), b.String())
		}
		for _, l := range lines {
			command := strings.HasPrefix(l, "  now  ") // not broken, so that it can be pasted
			if !command && shown.Columns(l) > 100 && strings.Contains(strings.TrimSpace(l), " ") && !strings.Contains(l, "/") {
				t.Errorf("%d columns: %s", shown.Columns(l), l)
			}
		}
		if strings.Contains(b.String(), "\x1b") {
			t.Error("colour without asking")
		}
	}
}

func TestColourChangesNoWord(t *testing.T) {
	strip := func(s string) string {
		var out strings.Builder
		escape := false
		for _, r := range s {
			switch {
			case r == '\x1b':
				escape = true
			case escape:
				escape = r != 'm'
			default:
				out.WriteRune(r)
			}
		}
		return out.String()
	}
	for _, v := range cases(t) {
		var plain, color bytes.Buffer
		if err := WriteText(&plain, v, Options{}); err != nil {
			t.Fatal(err)
		}
		if err := WriteText(&color, v, Options{Color: true}); err != nil {
			t.Fatal(err)
		}
		if strip(color.String()) != plain.String() {
			t.Fatalf("colour changes the words:\n%s\n---\n%s", plain.String(), strip(color.String()))
		}
	}
}

func TestJSONKeepsItsSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("verdict.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range cases(t) {
		var b bytes.Buffer
		if err := WriteJSON(&b, v); err != nil {
			t.Fatal(err)
		}
		var doc any
		if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Fatalf("%v\n%s", err, b.String())
		}
	}
}

func TestSchemaKnowsEveryKind(t *testing.T) {
	raw, err := os.ReadFile("verdict.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Defs struct {
			Subject struct {
				Properties struct {
					Kind struct{ Enum []recording.Kind }
				}
			}
		} `json:"$defs"`
	}
	if err := json.Unmarshal(raw, &schema); err != nil {
		t.Fatal(err)
	}
	if got := schema.Defs.Subject.Properties.Kind.Enum; !slices.Equal(got, recording.Kinds) {
		t.Errorf("the schema has %v, the recording %v", got, recording.Kinds)
	}
}

// The schema must be able to refuse: a document with an unknown state or field.
func TestTheSchemaRefuses(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("verdict.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(map[string]any){
		"unknown field":   func(d map[string]any) { d["surprise"] = 1 },
		"another version": func(d map[string]any) { d["version"] = 1.0 },
		"version 1's remedy": func(d map[string]any) {
			d["verdict"].([]any)[0].(map[string]any)["remedy"] = "raise net.core.rmem_max"
		},
		"unknown state": func(d map[string]any) { d["verdict"].([]any)[0].(map[string]any)["state"] = "guilty" },
		"no coverage":   func(d map[string]any) { delete(d, "coverage") },
	} {
		var b bytes.Buffer
		if err := WriteJSON(&b, cases(t)[0]); err != nil {
			t.Fatal(err)
		}
		var doc map[string]any
		if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
		change(doc)
		if schema.Validate(doc) == nil {
			t.Errorf("%s: the schema took it", name)
		}
	}
}

func TestWrap(t *testing.T) {
	got := wrap("one two three four", 9)
	if strings.Join(got, "|") != "one two|three|four" {
		t.Errorf("%q", got)
	}
	if shown.Columns(shown.Paint("1", "ab")+"→") != 3 {
		t.Error("escapes take no columns")
	}
}
