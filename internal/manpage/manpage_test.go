package manpage

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

func tree() *cobra.Command {
	run := func(*cobra.Command, []string) {}
	root := &cobra.Command{Use: "snag", Short: "Find it", Long: "Finds it.\n\n  sudo snag find    at once\n\n.hidden files, it's 5 - 3 \\n", Run: run}
	root.PersistentFlags().String("root", "", "a folder")
	find := &cobra.Command{Use: "find [NAME]", Short: "Look", Run: run, Example: "  snag find -v"}
	find.Flags().DurationP("for", "f", 30*time.Second, "look for so `LONG`")
	find.Flags().Bool("quiet", false, "say nothing")
	find.Flags().Bool("secret", false, "for tests")
	_ = find.Flags().MarkHidden("secret")
	root.AddCommand(find, &cobra.Command{Use: "guard", Hidden: true, Run: run})
	return root
}

func about() About {
	return About{Version: "1.2.0", Date: time.Date(2026, 11, 29, 23, 0, 0, 0, time.FixedZone("", -7200)), Exit: "0\tnothing\n10\ta culprit"}
}

func TestPage(t *testing.T) {
	all := All(tree())
	if len(all) != 2 || Name(all[1]) != "snag-find" {
		t.Fatalf("%d pages: hidden commands have none", len(all))
	}
	want := `.TH SNAG\-FIND 1 2026-11-30 "snag 1.2.0" "User Commands"
.SH NAME
snag\-find \- Look
.SH SYNOPSIS
.B snag find [NAME] [flags]
.SH DESCRIPTION
Look.
.SH OPTIONS
.TP
\fB\-f, \-\-for\fR \fILONG\fR
look for so LONG (default: 30s)
.TP
\fB\-\-quiet\fR
say nothing
.SH OPTIONS OF ALL THESE COMMANDS
.TP
\fB\-\-root\fR \fIstring\fR
a folder
.SH EXAMPLES
.PP
.nf
  snag find \-v
.fi
.SH EXIT STATUS
.TP
.B 0
nothing
.TP
.B 10
a culprit
.SH SEE ALSO
.BR snag (1)
`
	if got := string(Page(all[1], about())); got != want {
		t.Errorf("snag-find.1 is\n%s", got)
	}
	root := string(Page(all[0], about()))
	for _, part := range []string{
		".B snag [COMMAND]\n",
		"Finds it.\n.PP\n.nf\n  sudo snag find    at once\n.fi\n.PP\n\\&.hidden files, it\\(aqs 5 \\- 3 \\en\n",
		".SH COMMANDS\n.TP\n.BR snag\\-find (1)\nLook\n",
	} {
		if !strings.Contains(root, part) {
			t.Errorf("snag.1 has not\n%s\nbut is\n%s", part, root)
		}
	}
}
