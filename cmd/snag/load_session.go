package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/internal/units"
	"snag/load"
)

// What session: sends unless flags say otherwise: speech of 16 kHz and 16 bits in chunks of 320 ms, each of which is
// to be answered before the next one is due.
const (
	sessionEvery = 320 * time.Millisecond
	sessionSize  = 10240 // bytes, of tcp and udp: 16,000/s × 2 bytes × 0.32 s
)

const sessionScheme = "session:"

// notOfSessions are flags that say otherwise when the next message is sent.
var notOfSessions = []string{"rate", "like", "pingpong", "bandwidth", "streams"}

// session reads the scheme session:, which runs another target's requests as sessions. It returns that target.
func (f *loadFlags) session(cmd *cobra.Command, target string) (string, error) {
	inner, is := strings.CutPrefix(target, sessionScheme)
	if !is {
		return target, nil
	}
	given := cmd.Flags().Changed
	if !strings.Contains(inner, "://") || strings.HasPrefix(inner, sessionScheme) {
		return "", cli.Usage("%s: give the target of each session after session:, as session:tcp://HOST:PORT", target)
	}
	if mediaScheme(inner) != "" {
		return "", cli.Usage("%s: a session sends requests and awaits answers, which media have not: %s", target, load.Schemes)
	}
	for _, name := range notOfSessions {
		if given(name) {
			return "", cli.Usage("--%s with %s: each session sends a message in every --every and waits for the answer. Leave --%s out", name, sessionScheme, name)
		}
	}
	var assumed []string
	if !given("every") {
		f.every = sessionEvery
		assumed = append(assumed, fmt.Sprintf("--every %s", f.every))
	}
	if sized := strings.HasPrefix(inner, "tcp://") || strings.HasPrefix(inner, "udp://"); sized && !given("size") && !given("data") {
		f.size = fmt.Sprint(sessionSize)
		assumed = append(assumed, "--size "+f.size)
	}
	if !given("deadline") {
		f.deadline = f.every
		assumed = append(assumed, fmt.Sprintf("--deadline %s", f.deadline))
	}
	conns := f.conns
	if f.until != "" && !given("conns") {
		conns = triedSessions
		assumed = append(assumed, "--conns "+conns)
	}
	if len(assumed) > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s, each with a message every %s; assumed: %s\n", sessionsOf(conns), f.every, strings.Join(assumed, ", "))
	}
	return inner, nil
}

// sessions reads --every, by which each connection is a session.
func (f *loadFlags) sessions(given func(string) bool, out *asked) error {
	if f.every < 0 || f.every > 0 && (given("rate") || len(out.conns) > 1 && f.until == "") {
		return cli.Usage("--every: a time longer than 0 s, one number of --conns, and no --rate (with --until a range of --conns)")
	}
	if out.every = f.every; f.every > 0 {
		out.from = float64(out.conns[0]) / f.every.Seconds()
		out.to = out.from
	}
	return nil
}

// sessionsOf names a number of sessions, as it was given.
func sessionsOf(conns string) string {
	all, err := load.ParseConns(conns)
	if err != nil || len(all) != 1 { // which is an error of its own
		return conns + " sessions"
	}
	return units.Plural(all[0], "session")
}
