package report

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"snag/recording"
)

// sections of docs/json.md, by their headings: the fields of each type have a row there.
var sections = map[string][]any{
	"The document": {Document{}},
	"`window`, and each interval of `active`": {Window{}, Interval{}},
	"`target`":                                {recording.Target{}},
	"`subject_ref`":                           {recording.Subject{}, SubjectRef{}},
	"`symptoms[]`":                            {Symptom{}},
	"`foremost`":                              {Foremost{}},
	"`verdict[]`":                             {Entry{}},
	"`verdict[].holds`":                       {Holds{}},
	"`verdict[].harm`":                        {Harm{}},
	"`verdict[].evidence[]`":                  {Evidence{}},
	"`verdict[].chain[]`":                     {Link{}},
	"`verdict[].chain[].in_time`":             {InTime{}},
	"`verdict[].remedy`":                      {Remedy{}},
	"`verdict[].settings[]` and `calls[]`":    {Setting{}, Call{}},
	"`requests[]`":                            {Requests{}},
	"`requests[].accounts[]`":                 {Booked{}},
	"`loads[]`":                               {Load{}},
	"`loads[].since_due`, `parts`, `spent[]`": {Quantiles{}, LoadParts{}, Spent{}},
	"`experiments[]`":                         {Experiment{}},
	"`experiments[].suspects[]`":              {ExperimentSuspect{}},
	"`coverage[]`":                            {Coverage{}},
	"`closer`":                                {Closer{}},
	"`closer.processes[]`":                    {CloserLook{}},
	"`files[]`":                               {File{}},

	"`snag suspects --json`":     {CatalogueEntry{}},
	"`needs[]` and `leads_to[]`": {CatalogueNeed{}, CatalogueLead{}},
	"`snag show --json`":         {Contents{}},
}

var quoted = regexp.MustCompile("`([^`]+)`")

// Every field of the document has a row in the section of its object, every row is of a field, and no object is
// without a section.
func TestEveryFieldOfTheDocumentIsDocumented(t *testing.T) {
	b, err := os.ReadFile("../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(b), "\n## Every field\n")
	text, _, end := strings.Cut(text, "\n### `snag baseline list --json`") // what follows is tested by cmd/snag
	if !found || !end {
		t.Fatal("docs/json.md has no part on every field")
	}
	seen := map[reflect.Type]bool{}
	for _, part := range strings.Split(text, "\n### ")[1:] {
		heading, rows, _ := strings.Cut(part, "\n")
		told := map[string]bool{}
		for row := range strings.Lines(rows) {
			if cells := strings.Split(row, "|"); len(cells) > 2 {
				for _, m := range quoted.FindAllStringSubmatch(cells[1], -1) {
					told[m[1]] = true
				}
			}
		}
		if len(sections[heading]) == 0 {
			t.Errorf("the section %q is of no type", heading)
		}
		for _, v := range sections[heading] {
			ty := reflect.TypeOf(v)
			seen[ty] = true
			for name := range fieldsOf(ty) {
				if !told[name] {
					t.Errorf("%s: docs/json.md has no row for %q", heading, name)
				}
			}
		}
		for name := range told {
			if !hasField(sections[heading], name) {
				t.Errorf("%s: there is no field %q", heading, name)
			}
		}
	}
	for _, v := range []any{Document{}, []CatalogueEntry{}, Contents{}} {
		objects(reflect.TypeOf(v), func(ty reflect.Type) {
			if !seen[ty] {
				t.Errorf("docs/json.md has no section for %v", ty)
			}
		})
	}
}

func fieldsOf(ty reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for i := range ty.NumField() {
		if name, _, _ := strings.Cut(ty.Field(i).Tag.Get("json"), ","); name != "" && name != "-" {
			out[name] = ty.Field(i).Type
		}
	}
	return out
}

func hasField(types []any, name string) bool {
	for _, v := range types {
		if _, ok := fieldsOf(reflect.TypeOf(v))[name]; ok {
			return true
		}
	}
	return false
}

// objects calls with each struct that the JSON of a type has.
func objects(ty reflect.Type, each func(reflect.Type)) {
	switch ty.Kind() {
	case reflect.Pointer, reflect.Slice:
		objects(ty.Elem(), each)
	case reflect.Struct:
		each(ty)
		for _, f := range fieldsOf(ty) {
			objects(f, each)
		}
	}
}
