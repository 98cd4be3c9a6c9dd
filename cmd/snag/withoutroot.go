package main

import (
	"fmt"
	"os"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"snag/internal/kernel"
	"snag/internal/shown"
)

// seesLess are the commands that see or do little without root.
var seesLess = map[string]bool{
	"snag find": true, "snag record": true, "snag profile": true, "snag syscalls": true, "snag blocked": true,
	"snag baseline save": true, "snag baseline check": true,
	"snag tune apply": true, "snag tune confirm": true, "snag tune undo": true, "snag tune persist": true,
}

// sayWithoutRoot writes the line of withoutRoot before a command begins, unless only its result is wanted (--quiet)
// or it looks at no host: a recording is read, or a plan is only shown.
func sayWithoutRoot(cmd *cobra.Command, _ []string) {
	set := func(name string) bool { f := cmd.Flags().Lookup(name); return f != nil && f.Changed }
	if !seesLess[cmd.CommandPath()] || set("quiet") || set("read") || set("dry-run") || os.Geteuid() == 0 {
		return
	}
	if kernel.CanLoad("/proc", "/sys") == nil { // the binary was given the capabilities
		return
	}
	fmt.Fprintf(shown.To(os.Stderr), "snag: %s\n", withoutRoot(os.Args))
}

// withoutRoot says that root sees more, with the same command for it. The program is named as it was, by its path
// if it was started by one: sudo has another PATH.
func withoutRoot(args []string) string {
	text := "this is not root: it sees and may do a part only; for all of it: sudo"
	for _, a := range args {
		text += " " + quoted(a)
	}
	return text
}

// quoted is a word as a shell reads it whole.
func quoted(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./:=,%+@", r)
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
