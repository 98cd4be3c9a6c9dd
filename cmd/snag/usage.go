package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"snag/internal/cli"
)

// noArgs refuses arguments, and says which flag was meant where that can be told.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return cli.Usage("%s %s: it takes flags alone%s (%s --help)", cmd.CommandPath(), args[0], meant(cmd, args[0]), cmd.CommandPath())
}

func meant(cmd *cobra.Command, arg string) string {
	has := func(name string) bool { return cmd.Flags().Lookup(name) != nil }
	st, err := os.Stat(arg)
	switch {
	case isNumber(arg) && has("pid") && has("port") && len(arg) <= len("65535"):
		return ": --port " + arg + ", or --pid " + arg + "?"
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
