package agent

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Nothing that a command changes, sends or writes to is in the table: this list is its other half, kept by hand.
func TestNoCommandThatChangesAnything(t *testing.T) {
	for name, flags := range allowed {
		if !slices.Contains([]string{"find", "judge", "compare", "incidents", "incidents show", "read", "show", "tune plan"}, name) {
			t.Errorf("snag %s may be run", name)
		}
		for _, flag := range flags {
			if slices.Contains([]string{"load", "eliminate", "stream", "layers", "discover", "list", "html", "shared", "a", "b", "host",
				"go-runtime", "store", "root", "run", "auto", "write"}, flag) {
				t.Errorf("snag %s --%s sends, writes or changes something", name, flag)
			}
		}
	}
}

func TestArgv(t *testing.T) {
	for _, c := range []Command{
		{Name: "tune apply", Args: []string{"plan.yaml"}},
		{Name: "tune"}, {Name: ""}, {Name: "load"}, {Name: "eliminate"},
		{Name: "find", Flags: []string{"--load=http://127.0.0.1/"}},
		{Name: "find", Flags: []string{"--eliminate", "x"}},
		{Name: "judge", Flags: []string{"--html=/etc/passwd"}},
		{Name: "judge", Flags: []string{"--html=-"}},
		{Name: "incidents show", Flags: []string{"--html=/etc/passwd"}},
		{Name: "incidents show", Flags: []string{"--html"}},
		{Name: "judge", Flags: []string{"/tmp/x"}},
		{Name: "find", Flags: []string{"-q"}},
	} {
		if argv, err := c.Argv(); err == nil || argv != nil {
			t.Errorf("%+v may be run: %q", c, argv)
		}
	}
	c := Command{Name: "tune plan", Flags: []string{"--json"}, Args: []string{"--out=/etc/passwd"}}
	c.flag("role", "cache --out=x")
	argv, err := c.Argv()
	if err != nil || strings.Join(argv, "|") != "tune|plan|--json|--role=cache --out=x|--|--out=/etc/passwd" {
		t.Errorf("%q %v", argv, err)
	}
}

// What the package can reach changes nothing and sends nothing: of the remedies only the plan's file is linked.
func TestDependencies(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	never := regexp.MustCompile(`^snag/(remedies(/[^p].*|/persist.*)?|load(/.*)?|probes/(loading|asking).*|lab.*)$`)
	n := 0
	for path := range strings.FieldsSeq(string(out)) {
		if strings.HasPrefix(path, "snag/") {
			n++
		}
		if never.MatchString(path) {
			t.Errorf("%s is linked", path)
		}
	}
	if n < 20 || !never.MatchString("snag/remedies/apply") || !never.MatchString("snag/remedies") || never.MatchString("snag/remedies/plan") {
		t.Errorf("%d packages: the test does not look at what it should", n)
	}
}
