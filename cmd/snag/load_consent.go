package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/internal/units"
)

// mostUnasked is how many requests per second are sent to another host, and how many connections are made to it, unless
// somebody agrees.
const mostUnasked = 1000

// consent is how somebody agrees that another host gets much: by --yes, or a person on the terminal.
type consent struct {
	yes bool
	in  io.Reader // nil: nobody is there to answer
	out io.Writer
}

// consent is that of a command that a person may have started.
func (f *loadFlags) consent(cmd *cobra.Command) consent {
	c := consent{yes: f.yes}
	if isTerminal(os.Stdin) && isTerminal(os.Stderr) {
		c.in, c.out = os.Stdin, cmd.ErrOrStderr()
	}
	return c
}

// to reports an error unless somebody agrees that so much, which is more than without a question, goes to a target of
// another host. to is the word between --yes and much.
func (c consent) to(target, to, much string) error {
	if c.yes {
		return nil
	}
	if c.in != nil {
		fmt.Fprintf(c.out, "%s is not on this host: %s? [y/N] ", target, much)
		line, _ := bufio.NewReader(c.in).ReadString('\n') // no line is no
		if answer := strings.ToLower(strings.TrimSpace(line)); answer == "y" || answer == "yes" {
			return nil
		}
	}
	return cli.Usage("%s is not on this host: --yes %s %s", target, to, much)
}

// tooMuch is what a load asks of its target that another host gets only with consent; "": nothing.
func (a asked) tooMuch() string {
	conns := a.conns
	if len(conns) == 0 {
		conns = []int{a.plan.Conns}
	}
	rate, most := a.to, conns[len(conns)-1]
	if a.every > 0 {
		rate = float64(most) / a.every.Seconds()
	}
	switch {
	case rate == 0 || rate > mostUnasked:
		return fmt.Sprintf("send it more than %d requests per second", mostUnasked)
	case most > mostUnasked:
		return fmt.Sprintf("open %s connections to it", units.Count(float64(most)))
	}
	return ""
}

// mayAsk reports an error where another host would get too much and nobody agrees.
func mayAsk(ctx context.Context, a asked, c consent) error {
	here, err := a.plan.Target.Here(ctx)
	if err != nil {
		return fmt.Errorf("load %s: %w", a.plan.Target.Name, err)
	}
	if much := a.tooMuch(); !here && much != "" {
		return c.to(a.plan.Target.Name, "to", much)
	}
	return nil
}
