package main

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"snag/fleet/drain"
	"snag/fleet/hosts"
	"snag/fleet/objects"
	"snag/recorder"
	"snag/remedies/ablate"
	"snag/remedies/ablate/candidate"
	"snag/remedies/verify"
	"snag/report/profile"
	"snag/serve/agent"
)

// documented are the sections of a page that have the fields of some types, and of the types of the same package that
// these consist of.
type documented struct {
	page     string
	headings []string
	types    []any
}

// What these commands write as JSON has its rows in docs; what package report writes is tested there.
var documents = []documented{
	{"json.md", []string{"`snag baseline list --json`"}, []any{keptBaseline{}}},
	{"json.md", []string{"`snag tune status --json`", "`changes[]` and `verified[]`"}, []any{statusRow{}}},
	{"json.md", []string{"`snag tune check --json`"}, []any{checkedRow{}}},
	{"json.md", []string{"`snag tune knobs --json`"}, []any{knobPage{}, knobSetting{}}},
	{"json.md", []string{"`snag profile --json`"}, []any{profileDocument{}}},
	{"json.md", []string{"`snag profile --json`", "`profiles[].processes[]`"}, []any{profile.Document{}}},
	{"json.md", []string{"`snag tune verify --json`"}, []any{outcome{}}},
	{"json.md", []string{"`snag tune verify --json`", "`felt` and `cause`", "`load` of a check"}, []any{verify.Result{}}},
	{"json.md", []string{"`felt` and `cause`"}, []any{verify.Compared{}, verify.Figure{}}},
	{"json.md", []string{"`load` of a check"}, []any{verify.Load{}}},
	{"json.md", []string{"`snag tune ablate --json`", "`settings[]` of a study"}, []any{ablateDocument{}, candidate.Left{}}},
	{"json.md", []string{"`study`", "`study.settings[]`"}, []any{ablate.Result{}}},
	{"json.md", []string{"`study.settings[]`"}, []any{ablate.Setting{}}},
	{"json.md", []string{"`snag incidents --json`"}, []any{recorder.Incident{}, objects.Document{}}},
	{"json.md", []string{"`snag find --fleet --json`", "`causes[]` of a fleet", "`hosts[]` of a fleet"}, []any{hosts.Document{}}},
	{"json.md", []string{"Structured answers of `snag mcp`"}, []any{agent.Answer{}, agent.Incidents{}, agent.Catalogue{}}},
	{"clean.md", nil, []any{cleaned{}}},
	{"drain.md", []string{"JSON"}, []any{drain.Event{}}},
	{"serve.md", []string{"fleet.json"}, []any{hosts.Timeline{}}},
	{"json.md", []string{"snag version"}, []any{build{}}},
}

func TestFieldsOfOtherCommandsAreDocumented(t *testing.T) {
	for _, d := range documents {
		b, err := os.ReadFile("../../docs/" + d.page)
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, h := range d.headings {
			part := section(string(b), h)
			if part == "" {
				t.Errorf("%s: no section %s", d.page, h)
			}
			text += part
		}
		if len(d.headings) == 0 {
			text = string(b)
		}
		for _, v := range d.types {
			ty := reflect.TypeOf(v)
			eachField(ty, ty.PkgPath(), func(field string) {
				if !strings.Contains(text, "`"+field+"`") {
					t.Errorf("%s, %s: no row for %q of %v", d.page, strings.Join(d.headings, ", "), field, ty)
				}
			})
		}
	}
}

// section is what is below a heading of a page, until the next one.
func section(page, heading string) string {
	for _, level := range []string{"\n## ", "\n### "} {
		if _, text, found := strings.Cut(page, level+heading+"\n"); found {
			text, _, _ = strings.Cut(text, "\n##")
			return text
		}
	}
	return ""
}

// eachField calls with the name of each field in the JSON of a type, and of those of the types of one package in it.
func eachField(ty reflect.Type, pkg string, call func(field string)) {
	switch ty.Kind() {
	case reflect.Pointer, reflect.Slice:
		eachField(ty.Elem(), pkg, call)
	case reflect.Struct:
		if ty.PkgPath() != pkg {
			return
		}
		for i := range ty.NumField() {
			f := ty.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "-" || !f.IsExported() && name == "" && !f.Anonymous {
				continue
			}
			if name != "" {
				call(name)
			}
			eachField(f.Type, pkg, call)
		}
	}
}
