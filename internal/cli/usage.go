package cli

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

// Usage makes an error of how the command was called: exit code 2.
func Usage(format string, args ...any) error {
	return &Exit{ExitUsage, fmt.Errorf(format, args...)}
}

// UsageArgs makes a wrong number of arguments a usage error.
func UsageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return Usage("%v (%s --help)", err, cmd.CommandPath())
		}
		return nil
	}
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
	return Usage("%s (%s --help)", text, cmd.CommandPath())
}
