package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"snag/internal/netns"
	"snag/internal/shown"
	"snag/readers/logs"
	"snag/remedies/export"
	"snag/remedies/persist"
)

// offers gives what may be typed, each alone or with a tab and a few words about it.
type offers func(cmd *cobra.Command) []string

// fixed are offers that depend on no flag.
func fixed(all func() []string) offers { return func(*cobra.Command) []string { return all() } }

// flagValues are the flags that take one of some values. They mean the same in every command; --as of persist has
// fewer.
var flagValues = map[string]offers{
	"unit":  fixed(func() []string { return unitsBelow(cgroupRoot) }),
	"netns": fixed(func() []string { return namespaces(netns.NameDirs) }),
	"table": fixed(tableNames),
	"role":  fixed(roleNames),
	"map":   fixed(logs.Maps),
	"as":    fixed(export.Formats),
}

// argumentValues are the values of commands' first argument.
var argumentValues = map[string]offers{
	"snag suspects":       fixed(suspectTitles),
	"snag tune knobs":     fixed(knobAbouts),
	"snag baseline check": baselineNames,
	"snag incidents show": incidentNumbers,
	"snag load":           fixed(loadSchemes),
	"snag eliminate":      fixed(loadSchemes),
}

// Flags of which files or folders are offered. Of all others that take a value none is: a file there is an accident.
var (
	fileFlags = []string{
		"baseline", "data", "default", "descriptor", "discover-credentials", "file", "fleet-headers", "frames", "hdr", "html", "incidents-credentials", "journal", "like", "list",
		"offset", "out", "read", "root", "smallest", "webhook-secret",
	}
	folderFlags = []string{"dir", "ring", "store"}
)

// complete registers what shells offer for a command and all below it.
func complete(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		complete(c)
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { completeFlag(cmd, f) })
	switch v := argumentValues[cmd.CommandPath()]; {
	case v != nil:
		cmd.ValidArgsFunction = firstOf(v)
	case cmd.HasSubCommands(), takesFiles(cmd.Use):
	default:
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
}

// takesFiles: the names of arguments in Use say which of them are files.
func takesFiles(use string) bool {
	return slices.ContainsFunc(strings.Fields(use)[1:], func(name string) bool {
		name, _, _ = strings.Cut(strings.Trim(name, "[]….()"), "|")
		return slices.Contains([]string{"DIR", "FILE", "PLAN", "A", "B"}, name)
	})
}

func completeFlag(cmd *cobra.Command, f *pflag.Flag) {
	with := cobra.CompletionFunc(cobra.NoFileCompletions)
	switch v := flagValues[f.Name]; {
	case cmd.CommandPath() == "snag tune persist" && f.Name == "as":
		with = oneOf(fixed(func() []string { return persist.Formats }))
	case v != nil:
		with = oneOf(v)
	case f.Value.Type() == "bool", slices.Contains(fileFlags, f.Name):
		return
	case slices.Contains(folderFlags, f.Name):
		with = func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
	}
	_ = cmd.RegisterFlagCompletionFunc(f.Name, with) // it fails for a flag that has one already
}

// oneOf offers the values that begin as what was typed. What cannot be typed safely is left out: names of units and
// namespaces are others'.
func oneOf(v offers) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var out []cobra.Completion
		directive := cobra.ShellCompDirectiveNoFileComp
		for _, value := range v(cmd) {
			name, about, _ := strings.Cut(value, "\t")
			if !strings.HasPrefix(name, typed) || !shown.Safe(name) || strings.ContainsAny(name, "\n\t ") {
				continue
			}
			if strings.HasSuffix(name, "://") { // the rest of the URL follows
				directive |= cobra.ShellCompDirectiveNoSpace
			}
			out = append(out, cobra.CompletionWithDesc(name, shown.Text(about)))
		}
		return out, directive
	}
}

// firstOf is oneOf for the first argument of a command that takes one.
func firstOf(v offers) cobra.CompletionFunc {
	offer := oneOf(v)
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return offer(cmd, args, typed)
	}
}
