package all

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"snag/lab/drawn"
	"snag/suspects"
)

// Every family says what its truth is, in names that exist.
func TestFamiliesAreSound(t *testing.T) {
	catalogue := map[string]bool{}
	for _, s := range suspects.All {
		catalogue[s.Name] = true
	}
	seen := map[string]bool{}
	for _, f := range Families {
		if f.Name == "" || seen[f.Name] || strings.ContainsAny(f.Name, " /") {
			t.Errorf("the name %q is there twice, or no file's name", f.Name)
		}
		seen[f.Name] = true
		if f.Kind == "" || f.Build == nil || !slices.Contains([]drawn.Origin{drawn.Lab, drawn.Real, drawn.Healthy}, f.Origin) {
			t.Errorf("%s: kind %q, origin %q", f.Name, f.Kind, f.Origin)
		}
		if (len(f.Faults) == 0) != (f.Origin == drawn.Healthy) {
			t.Errorf("%s is %s and has %d faults", f.Name, f.Origin, len(f.Faults))
		}
		if f.Origin == drawn.Real && len(f.Software) == 0 {
			t.Errorf("%s does not say what software it is of", f.Name)
		}
		for _, x := range f.Faults {
			if x.Name == "" || len(x.Suspects) == 0 || x.Subject == "" || x.Account == "" {
				t.Errorf("%s, %s: suspects %v, subject %q, account %q", f.Name, x.Name, x.Suspects, x.Subject, x.Account)
			}
			if _, err := regexp.Compile(x.Subject); err != nil {
				t.Errorf("%s, %s: %v", f.Name, x.Name, err)
			}
			for _, name := range slices.Concat(x.Suspects, x.Also) {
				if !catalogue[name] {
					t.Errorf("%s, %s: no cause is called %s", f.Name, x.Name, name)
				}
			}
		}
	}
}

// What families need, make setup-drawn installs.
func TestSetUpHasWhatFamiliesNeed(t *testing.T) {
	raw, err := os.ReadFile("../../tools/setup.sh")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?s)\ndrawn\) want="(.*?)"`).FindSubmatch(raw)
	if m == nil {
		t.Fatal("tools/setup.sh has no list for drawn incidents")
	}
	listed := append(strings.Fields(string(m[1])), "default-jdk-headless") // any JDK will do
	for _, f := range Families {
		for _, tool := range f.Needs {
			if !slices.Contains(listed, tool.Package) {
				t.Errorf("%s needs %s of %s, which make setup-drawn does not install", f.Name, tool.Command, tool.Package)
			}
		}
	}
}
