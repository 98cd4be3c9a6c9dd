package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// usage makes an error of how the command was called: exit code 2.
func usage(format string, args ...any) error {
	return &exit{exitUsage, fmt.Errorf(format, args...)}
}

// usageArgs makes a wrong number of arguments a usage error.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usage("%v (%s --help)", err, cmd.CommandPath())
		}
		return nil
	}
}

// noArgs refuses arguments, and says which flag was meant where that can be told.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usage("%s %s: it takes flags alone%s (%s --help)", cmd.CommandPath(), args[0], meant(cmd, args[0]), cmd.CommandPath())
}

func meant(cmd *cobra.Command, arg string) string {
	has := func(name string) bool { return cmd.Flags().Lookup(name) != nil }
	st, err := os.Stat(arg)
	switch {
	case isNumber(arg) && has("pid"):
		return ": --pid " + arg + "?"
	case err == nil && st.IsDir() && has("read"):
		return ": --read " + arg + "?"
	case strings.Contains(arg, "://") && has("stream"):
		return ": --stream " + arg + "?"
	case has("unit"):
		return fmt.Sprintf(": --unit %s, or --pid $(pgrep -o %s)?", arg, arg)
	}
	return ""
}

func isNumber(s string) bool {
	_, err := strconv.ParseUint(s, 10, 32)
	return err == nil
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
	return usage("%s (%s --help)", text, cmd.CommandPath())
}
