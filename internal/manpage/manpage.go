// Package manpage writes a command's manual page, in the language of man(7). cobra has a package for that; it would
// link a reader of Markdown into snag.
package manpage

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// About is what the foot and the head of each page say.
type About struct {
	Version string
	Date    time.Time // of the version; only the day is shown
	Exit    string    // the section EXIT STATUS, lines with a code before a tab
}

// Name is the page's name: snag-tune-apply.
func Name(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// All are a command and those below it that users see, each before its own.
func All(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, c := range shown(cmd) {
		all = append(all, All(c)...)
	}
	return all
}

func shown(cmd *cobra.Command) []*cobra.Command {
	var all []*cobra.Command
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && c.Name() != "help" && c.Name() != "completion" {
			all = append(all, c)
		}
	}
	return all
}

// Page is the page of one command.
func Page(cmd *cobra.Command, about About) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 %s \"snag %s\" \"User Commands\"\n", strings.ToUpper(escape(Name(cmd))), about.Date.UTC().Format(time.DateOnly), escape(about.Version))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", escape(Name(cmd)), text(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", text(synopsis(cmd)))
	description := cmd.Long
	if description == "" {
		description = cmd.Short + "."
	}
	b.WriteString(".SH DESCRIPTION\n" + paragraphs(description))
	options(&b, "OPTIONS", cmd.NonInheritedFlags())
	options(&b, "OPTIONS OF ALL THESE COMMANDS", cmd.InheritedFlags())
	if cmd.Example != "" {
		b.WriteString(".SH EXAMPLES\n" + paragraphs(cmd.Example))
	}
	if below := shown(cmd); len(below) > 0 {
		b.WriteString(".SH COMMANDS\n")
		for _, c := range below {
			fmt.Fprintf(&b, ".TP\n.BR %s (1)\n%s\n", escape(Name(c)), text(c.Short))
		}
	}
	b.WriteString(".SH EXIT STATUS\n")
	for line := range strings.Lines(about.Exit) {
		code, what, _ := strings.Cut(strings.TrimSpace(line), "\t")
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", code, text(what))
	}
	if parent := cmd.Parent(); parent != nil {
		fmt.Fprintf(&b, ".SH SEE ALSO\n.BR %s (1)\n", escape(Name(parent)))
	}
	return []byte(b.String())
}

func synopsis(cmd *cobra.Command) string {
	if !cmd.Runnable() || len(shown(cmd)) > 0 {
		return cmd.CommandPath() + " [COMMAND]"
	}
	return cmd.UseLine()
}

func options(b *strings.Builder, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	b.WriteString(".SH " + title + "\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		fmt.Fprintf(b, ".TP\n\\fB%s\\fR", escape(name))
		if value != "" {
			fmt.Fprintf(b, " \\fI%s\\fR", escape(value))
		}
		fmt.Fprintf(b, "\n%s%s\n", text(usage), byDefault(f))
	})
}

// byDefault leaves out what is no value: off, none, an empty list.
func byDefault(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "false", "0", "0s", "[]":
		return ""
	}
	return " (default: " + escape(f.DefValue) + ")"
}

// paragraphs are blocks with an empty line between them. Lines that begin with a space are printed as they are:
// commands.
func paragraphs(s string) string {
	var b strings.Builder
	literal, begins := false, false
	for line := range strings.Lines(strings.Trim(s, "\n")) {
		line = strings.TrimRight(line, "\n")
		if is := strings.HasPrefix(line, " "); line != "" && is != literal {
			b.WriteString(map[bool]string{true: ".PP\n.nf\n", false: ".fi\n.PP\n"}[is])
			literal, begins = is, false
		}
		if line == "" {
			begins = true
			continue
		}
		if begins {
			b.WriteString(".PP\n")
			begins = false
		}
		b.WriteString(text(line) + "\n")
	}
	if literal {
		b.WriteString(".fi\n")
	}
	return b.String()
}

var special = strings.NewReplacer(`\`, `\e`, `-`, `\-`, `"`, `\(dq`, `'`, `\(aq`, "`", `\(ga`, `^`, `\(ha`, `~`, `\(ti`)

func escape(s string) string { return special.Replace(s) }

// text keeps a line that begins with a dot from being read as a request.
func text(s string) string {
	s = escape(s)
	if strings.HasPrefix(s, ".") {
		return `\&` + s
	}
	return s
}
