package report

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// What programs read is told in docs/syscalls.md: every field by its name.
func TestFieldsOfTheJSONAreTold(t *testing.T) {
	b, err := os.ReadFile("../docs/syscalls.md")
	if err != nil {
		t.Fatal(err)
	}
	_, told, found := strings.Cut(string(b), "\n## JSON\n")
	if !found {
		t.Fatal("no part on JSON")
	}
	words := map[string]bool{}
	for _, w := range regexp.MustCompile(`[a-z_]+`).FindAllString(told, -1) {
		words[w] = true
	}
	for _, v := range []any{Calls{}, CallsProcess{}, CallTotal{}, FDTotal{}, CallsCost{}, Blocked{}, BlockedThread{}} {
		ty := reflect.TypeOf(v)
		for i := range ty.NumField() {
			name, _, _ := strings.Cut(ty.Field(i).Tag.Get("json"), ",")
			if name == "" || !words[name] {
				t.Errorf("%s.%s: docs/syscalls.md does not tell of %q", ty.Name(), ty.Field(i).Name, name)
			}
		}
	}
}
