package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Each command that does something has an example in its help and in its manual page, which begins with the command.
func TestEveryCommandHasAnExample(t *testing.T) {
	seen := 0
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			if sub.Hidden || sub.Name() == "help" || sub.Name() == "completion" {
				continue
			}
			seen++
			if !sub.HasSubCommands() && !strings.Contains(sub.Example, sub.CommandPath()) {
				t.Errorf("%s: no example (it is %q)", sub.CommandPath(), sub.Example)
			}
			visit(sub)
		}
	}
	visit(rootCommand())
	if seen < 30 {
		t.Errorf("only %d commands", seen)
	}
}

// A flag that several commands have is the same in each: --out has -o, and --json and --symptom have one kind of value.
func TestFlagsAreConsistent(t *testing.T) {
	kinds := map[string]string{"json": "bool", "symptom": "stringArray", "netns": "string", "out": "string"}
	seen := map[string]int{}
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			for name, kind := range kinds {
				f := sub.Flags().Lookup(name)
				if f == nil || sub.Hidden {
					continue
				}
				seen[name]++
				if f.Value.Type() != kind || name == "out" && f.Shorthand != "o" {
					t.Errorf("%s --%s: a %s with the short form %q", sub.CommandPath(), name, f.Value.Type(), f.Shorthand)
				}
			}
			visit(sub)
		}
	}
	visit(rootCommand())
	for name := range kinds {
		if seen[name] < 3 {
			t.Errorf("--%s: only %d commands have it", name, seen[name])
		}
	}
}
