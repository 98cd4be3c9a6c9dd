package agent

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Command is one of snag's commands with its flags, each as --name=value, and what follows them.
type Command struct {
	Name  string // as a person types it: "tune plan"
	Flags []string
	Args  []string
	// Said is called with each line that the command writes on standard error; nil: nobody.
	Said func(line string)
	// Line is called with each line of standard output, which is not kept then; nil: it is.
	Line func(line []byte)
}

// Output is what a command came to.
type Output struct {
	JSON []byte // its standard output
	Code int    // its exit code: 0, 10 or 11
}

// Run runs a command to its end, or until ctx ends.
type Run func(context.Context, Command) (Output, error)

// allowed are the commands that tools may run, with their flags. None of them changes the host, sends traffic, or
// writes to a path that a client names: --out is a folder that the server made, and --html has standard output alone.
// What is not here is not run, whatever a tool or its arguments ask for.
var allowed = map[string][]string{
	"find": {"json", "for", "pid", "unit", "port", "container", "pod", "netns", "symptom", "since", "slo", "budget", "baseline", "out", "ring",
		"at", "from", "to", "last"},
	"judge":          {"json", "slo", "baseline"},
	"compare":        {"json", "at", "with", "for", "ring"},
	"incidents":      {"json", "ring"},
	"incidents show": {"json", "html=-", "ring"},
	"read":           {"json", "quiet", "out", "symptom", "from", "to", "tz", "only", "map", "slo", "baseline"},
	"show":           {"table"},
	"tune plan":      {"json", "recorded", "audit", "role", "rate", "rtt", "leave-overdue"},
}

// Allowed are the commands that tools may run, each with its flags, some with the one value that they may have: a copy.
func Allowed() map[string][]string { return maps.Clone(allowed) }

// Argv are the arguments of snag's program. The flags are joined to their values and what follows comes after --, so
// that no value can be taken for a flag.
func (c Command) Argv() ([]string, error) {
	flags, ok := allowed[c.Name]
	if !ok {
		return nil, fmt.Errorf("snag %s is none of the commands that only look", c.Name)
	}
	argv := strings.Fields(c.Name)
	for _, f := range c.Flags {
		name, _, _ := strings.Cut(strings.TrimPrefix(f, "--"), "=")
		fixed := strings.TrimPrefix(f, "--")
		if !strings.HasPrefix(f, "--") || !slices.Contains(flags, name) && !slices.Contains(flags, fixed) {
			return nil, fmt.Errorf("snag %s %s: the flag is none of those that only look", c.Name, f)
		}
		argv = append(argv, f)
	}
	if len(c.Args) > 0 {
		argv = append(append(argv, "--"), c.Args...)
	}
	return argv, nil
}

// flag adds a flag with a value that a client gave; nothing without one.
func (c *Command) flag(name, value string) {
	if value != "" {
		c.Flags = append(c.Flags, "--"+name+"="+value)
	}
}

func (c *Command) number(name string, value int) {
	if value != 0 {
		c.flag(name, fmt.Sprint(value))
	}
}

func (c *Command) each(name string, values []string) {
	for _, v := range values {
		c.flag(name, v)
	}
}
