package cli

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"snag/internal/nearest"
)

// Usage makes an error of how the command was called: exit code 2.
func Usage(format string, args ...any) error {
	return &Exit{ExitUsage, fmt.Errorf(format, args...)}
}

// UsageArgs makes a wrong number of arguments a usage error: it names the argument that is missing, or the first that
// is one too many. wanted says what the arguments are, where their names in Use do not.
func UsageArgs(check cobra.PositionalArgs, wanted ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if check(cmd, args) == nil {
			return nil
		}
		return Usage("%s (%s --help)", wrongArgs(cmd, args, strings.Join(wanted, "; ")), cmd.CommandPath())
	}
}

func wrongArgs(cmd *cobra.Command, args []string, wanted string) string {
	needed, all := argumentNames(cmd.Use)
	switch {
	case cmd.HasAvailableSubCommands() && len(all) == 0 && len(args) > 0:
		return fmt.Sprintf("unknown command %q for %q%s", args[0], cmd.CommandPath(),
			nearest.DidYouMean(args[0], subCommands(cmd), func(s string) string { return cmd.CommandPath() + " " + s }))
	case len(args) < len(needed):
		verb := " is missing"
		if len(needed)-len(args) > 1 {
			verb = " are missing"
		}
		text := cmd.CommandPath() + ": " + strings.Join(needed[len(args):], " and ") + verb
		if wanted != "" {
			text += ": " + wanted
		}
		return text
	case len(all) == 0:
		return fmt.Sprintf("%s %s: it takes flags and no argument", cmd.CommandPath(), args[0])
	}
	return fmt.Sprintf("%s: %q is one argument too many: it takes %s", cmd.CommandPath(), args[min(len(all), len(args)-1)], strings.Join(all, " and "))
}

// argumentNames are the arguments that a command's Use names, as "export PLAN --as FORMAT" and "knobs [NAME]" do:
// those that it needs, and all.
func argumentNames(use string) (needed, all []string) {
	for _, field := range strings.Fields(use)[1:] {
		if strings.HasPrefix(field, "-") || strings.HasPrefix(field, "(") {
			break
		}
		name := strings.Trim(field, "[]…")
		all = append(all, alternatives(strings.TrimSuffix(name, "...")))
		if !strings.HasPrefix(field, "[") && !strings.HasSuffix(field, "]") {
			needed = append(needed, all[len(all)-1])
		}
	}
	return needed, all
}

// alternatives are PLAN, FOLDER or FILE, of PLAN|FOLDER|FILE.
func alternatives(name string) string {
	all := strings.Split(name, "|")
	last := len(all) - 1
	if last == 0 {
		return name
	}
	return strings.Join(all[:last], ", ") + " or " + all[last]
}

func subCommands(cmd *cobra.Command) (out []string) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			out = append(out, c.Name())
		}
	}
	return out
}

// unknownFlag is pflag's text about a long flag that the command has not.
var unknownFlag = regexp.MustCompile(`^unknown flag: --(.+)$`)

// nearFlags asks for the flag that was meant. Of a flag that is given before the command, it names the
// commands that take it.
func nearFlags(cmd *cobra.Command, typed string) string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if near := nearest.DidYouMean(typed, names, func(s string) string { return "--" + s }); near != "" {
		return near
	}
	var takers []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && c.Flags().Lookup(typed) != nil {
			takers = append(takers, c.Name())
		}
	}
	if len(takers) == 0 {
		return ""
	}
	return "; it comes after a command that takes it: " + strings.Join(takers, ", ")
}

// badValue is how pflag tells of a value that is none of the flag's type.
var badValue = regexp.MustCompile(`^invalid argument "(.*)" for "(?:-\w, )?(--[\w-]+)" flag: (.*)$`)

// flagError says what a flag wants: what the parsers of numbers and times say helps
// who wrote them.
func flagError(cmd *cobra.Command, err error) error {
	text := err.Error()
	if m := badValue.FindStringSubmatch(text); m != nil {
		value, flag := m[1], m[2]
		switch {
		case strings.Contains(m[3], "missing unit in duration"):
			text = fmt.Sprintf("%s %s: a time has a unit: %ss, %sm", flag, value, value, value)
		case strings.Contains(m[3], "invalid duration"):
			text = fmt.Sprintf("%s %s: no time: write 10s or 2m", flag, value)
		case flag == "--pid":
			text = fmt.Sprintf("%s %s: a pid is a number; pgrep %s finds those of a name", flag, value, value)
		case strings.Contains(m[3], "strconv.ParseInt"):
			text = fmt.Sprintf("%s %s: a number is wanted", flag, value)
		}
	}
	if m := unknownFlag.FindStringSubmatch(text); m != nil {
		text += nearFlags(cmd, m[1])
	}
	return Usage("%s (%s --help)", text, cmd.CommandPath())
}
