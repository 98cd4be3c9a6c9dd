package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestUnitsOfControlGroups(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{
		"system.slice/nginx.service/worker", "unified/system.slice/nginx.service", "system.slice/ssh.socket",
		"user.slice/user-0.slice/session-3.scope", "memory/docker/abc", "init.scope",
	} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "file.service"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	want := "init.scope nginx.service session-3.scope ssh.socket system.slice user-0.slice user.slice"
	if got := strings.Join(unitsBelow(root), " "); got != want {
		t.Errorf("units: %s\nwant   %s", got, want)
	}
	if got := unitsBelow(filepath.Join(root, "none")); len(got) != 0 {
		t.Errorf("of no folder: %v", got)
	}
}

func TestNamespaceNames(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "blue"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := namespaces([]string{filepath.Join(dir, "none"), dir}); !slices.Equal(got, []string{"blue"}) {
		t.Errorf("%v", got)
	}
}

// Names are others': what would be read as another line or as a command of the terminal is not offered.
func TestHostileNamesAreNotOffered(t *testing.T) {
	offer := oneOf(fixed(func() []string {
		return []string{"good.service\tfine\x1b[31m", "a\nb", "with space", "\x1b]0;title\a.service", "\u202egnp.service"}
	}))
	got, directive := offer(&cobra.Command{}, nil, "")
	if len(got) != 1 || !strings.HasPrefix(got[0], "good.service\tfine") || strings.Contains(got[0], "\x1b") {
		t.Errorf("%q", got)
	}
	if directive != cobra.ShellCompDirectiveNoFileComp {
		t.Errorf("directive %d", directive)
	}
}

// A value flag that no one thought of would offer files.
func TestEveryFlagHasACompletion(t *testing.T) {
	for typed, want := range map[string]string{
		"find --symptom":         "",
		"find --for":             "",
		"tune export p --as":     "ansible",
		"tune persist --as":      "unit",
		"tune plan --role":       "cache",
		"read --map":             "nginx-error",
		"watch --webhook":        "",
		"compare --at":           "",
		"tune ablate x --netns":  "-",
		"blocked --unit":         "-",
		"show r --table":         "samples",
		"incidents show --ring":  "-",
		"tune knobs --store":     "-",
		"profile diff a --event": "",
	} {
		var out strings.Builder
		root := rootCommand()
		root.SetOut(&out)
		root.SetErr(&strings.Builder{})
		root.SetArgs(append(append([]string{cobra.ShellCompRequestCmd}, strings.Fields(typed)...), ""))
		if err := root.Execute(); err != nil {
			t.Errorf("%s: %v", typed, err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if last := lines[len(lines)-1]; last == ":0" {
			t.Errorf("%s offers files", typed)
		}
		if want == "-" { // what there is depends on the host
			continue
		}
		got := lines[:len(lines)-1]
		if want == "" && len(got) > 0 || want != "" && !slices.Contains(got, want) {
			t.Errorf("%s offers %q, want %q", typed, got, want)
		}
	}
}
