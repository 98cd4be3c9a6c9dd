package mcp

import (
	"encoding/json"
	"testing"
	"time"
)

func TestSchemaOf(t *testing.T) {
	type inner struct {
		N *float64 `json:"n" doc:"how many"`
	}
	type outer struct {
		inner
		At    time.Time         `json:"at,omitzero"`
		Names []string          `json:"names,omitempty"`
		Not   bool              `json:"-"`
		By    map[string]uint64 `json:"by,omitempty"`
	}
	want := `{"additionalProperties":false,"properties":{"at":{"format":"date-time","type":"string"},"by":{"additionalProperties":{"type":"integer"},"type":"object"},` +
		`"n":{"description":"how many","type":["number","null"]},"names":{"items":{"type":"string"},"type":"array"}},"required":["n"],"type":"object"}`
	if got := string(SchemaOf[outer]()); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestArguments(t *testing.T) {
	for raw, want := range map[string]string{
		``: "", `null`: "", `{}`: "", `{"text":"a","times":3,"more":["b"]}`: "",
		`{"text":"a","Text":"b"}`: `unknown argument "Text": there are text, times, more`,
		`{"more":"b"}`:            "more is a string, and must be a list of strings",
		`{"text":1}`:              "text is a number, and must be a string",
		`{"times":1.5}`:           "times is a number 1.5, and must be a whole number in range",
		`"text"`:                  "the arguments must be a JSON object with text, times, more",
	} {
		_, err := Arguments[echoIn](json.RawMessage(raw))
		got := ""
		if err != nil {
			got = err.Error()
			if want != "" && len(got) > len(want) {
				got = got[len(got)-len(want):]
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", raw, err, want)
		}
	}
}
