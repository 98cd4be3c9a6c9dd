package main

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"snag/report/profile"
)

// What these commands write as JSON has its rows in docs/json.md; what package report writes is tested there.
func TestFieldsOfOtherCommandsAreDocumented(t *testing.T) {
	b, err := os.ReadFile("../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	for heading, types := range map[string][]any{
		"`snag baseline list --json`":  {keptBaseline{}},
		"`snag tune status --json`":    {statusRow{}},
		"`changes[]` and `verified[]`": {statusMade{}, statusLooks{}},
		"`snag tune check --json`":     {checkedRow{}},
		"`snag tune knobs --json`":     {knobPage{}, knobSetting{}},
		"`snag profile --json`":        {profileDocument{}, profile.Document{}, profile.DocumentDoubt{}},
		"`profiles[].processes[]`":     {profile.Process{}, profile.FunctionTime{}},
	} {
		_, text, found := strings.Cut(string(b), "\n### "+heading+"\n")
		text, _, _ = strings.Cut(text, "\n##")
		if !found {
			t.Errorf("no section %s", heading)
		}
		for _, v := range types {
			ty := reflect.TypeOf(v)
			for i := range ty.NumField() {
				name, _, _ := strings.Cut(ty.Field(i).Tag.Get("json"), ",")
				if ty.Field(i).IsExported() && (name == "" || !strings.Contains(text, "`"+name+"`")) {
					t.Errorf("%s: no row for %q", heading, name)
				}
			}
		}
	}
}
