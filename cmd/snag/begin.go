package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// The groups of snag --help, in the order of a person's work.
const (
	groupHost    = "host"
	groupFiles   = "files"
	groupClients = "clients"
	groupChange  = "change"
)

var groups = []*cobra.Group{
	{ID: groupHost, Title: "What this host does:"},
	{ID: groupFiles, Title: "Recordings, and files of other tools:"},
	{ID: groupClients, Title: "As a client sees a service or a stream:"},
	{ID: groupChange, Title: "Change settings and take it back, restart in steps:"},
}

var groupOf = map[string]string{
	"find": groupHost, "record": groupHost, "incidents": groupHost, "profile": groupHost, "syscalls": groupHost,
	"blocked": groupHost, "baseline": groupHost,
	"judge": groupFiles, "read": groupFiles, "show": groupFiles, "report": groupFiles, "compare": groupFiles,
	"suspects": groupFiles, "clean": groupFiles,
	"watch": groupClients, "load": groupClients, "eliminate": groupClients,
	"tune": groupChange, "drain": groupChange,
}

// group sorts the commands of the root for its help.
func group(root *cobra.Command) {
	root.AddGroup(groups...)
	root.SetHelpCommandGroupID(groupFiles)
	for _, c := range root.Commands() {
		c.GroupID = groupOf[c.Name()]
	}
}

// firstSteps are what a newcomer does next: the question, and the command that answers it. Those that need root
// are marked.
var firstSteps = []struct {
	root          bool
	command, what string
}{
	{true, "snag find", "what is slow on this host now, and why"},
	{true, "snag find --port 1935", "the same for the service on this port"},
	{true, "snag record", "record all the time, to look back later"},
	{false, "snag read FILE…", "judge a strace, perf, pcap or log file"},
	{false, "snag watch URL", "watch a live stream as a viewer would"},
	{false, "snag load http://HOST/ --rate 100", "measure a service's answers at a rate"},
}

// begin says what to do next: what snag without a command answers.
func begin(out io.Writer, euid int) error {
	text := "snag finds what a stream or a request waits for. Begin with one of these:\n\n"
	for _, s := range firstSteps {
		command := s.command
		if s.root && euid != 0 {
			command = "sudo " + command
		}
		text += fmt.Sprintf("  %-35s%s\n", command, s.what)
	}
	_, err := io.WriteString(out, text+"\nsnag --help lists all commands, snag COMMAND --help one command's flags.\n")
	return err
}

func runRoot(cmd *cobra.Command, _ []string) error { return begin(cmd.OutOrStdout(), os.Geteuid()) }
