package main

import (
	"slices"
	"strings"
	"testing"

	"snag/serve/agent"
)

// Every command that an agent's tools may run exists, with each of its flags: a flag that is renamed would otherwise
// fail at an agent's first call.
func TestAgentsCommandsExist(t *testing.T) {
	n := 0
	for name, flags := range agent.Allowed() {
		cmd, rest, err := rootCommand().Find(strings.Fields(name))
		if err != nil || len(rest) > 0 || cmd.RunE == nil {
			t.Errorf("snag %s: %v, %v", name, rest, err)
			continue
		}
		for _, flag := range flags {
			flag, _, _ = strings.Cut(flag, "=") // the value that it may have
			if n++; cmd.Flag(flag) == nil {
				t.Errorf("snag %s has no --%s", name, flag)
			}
		}
	}
	if n < 30 {
		t.Errorf("%d flags", n)
	}
}

// A new flag of these commands is not open to agents until somebody has decided that it only looks.
func TestFlagsThatAgentsDoNotHave(t *testing.T) {
	never := map[string][]string{
		"find": {"load", "eliminate", "stream", "layers", "discover", "html", "shared", "go-runtime", "otlp", "otlp-header"},
		"read": {"html", "shared"}, "judge": {"html", "shared", "otlp", "otlp-header"}, "incidents show": {"html", "shared", "from", "incidents-endpoint", "incidents-region", "incidents-credentials"},
		"incidents": {"from", "host", "incidents-endpoint", "incidents-region", "incidents-credentials"}, "compare": {"a", "b", "html"}, "tune plan": {"out"},
	}
	for name, flags := range never {
		cmd, _, err := rootCommand().Find(strings.Fields(name))
		if err != nil {
			t.Fatal(err)
		}
		for _, flag := range flags {
			if cmd.Flag(flag) == nil {
				t.Errorf("snag %s --%s is gone: take it out of this test", name, flag)
			}
			if slices.Contains(agent.Allowed()[name], flag) {
				t.Errorf("agents have snag %s --%s", name, flag)
			}
		}
	}
}
