package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"snag/internal/cli"
	"snag/internal/conversation"
	capture "snag/internal/pcap"
	"snag/internal/units"
	"snag/load"
	"snag/load/recorded"
	"snag/readers/pcap"
	"snag/readers/reader"
	"snag/readers/strace"
	"snag/recording"
)

// likeFlags say what to send again.
type likeFlags struct {
	path            string
	fd, pid, stream int
}

func (f *likeFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.path, "like", "", "tcp: send what went over a connection of this recording, strace or capture: sizes, writes, times, options")
	flags.IntVar(&f.fd, "fd", -1, "--like: the descriptor, of a recording or a strace")
	flags.IntVar(&f.pid, "pid", 0, "--like: the process whose descriptor it is (default: the one that has it)")
	flags.IntVar(&f.stream, "stream", -1, "--like: the TCP connection of a capture, as Wireshark numbers them (tcp.stream)")
}

// unlike are flags that say what --like takes from the file.
var unlike = []string{"size", "reply", "split", "data", "every", "until"}

// applyLike has a plan send what a file shows.
func (f *loadFlags) applyLike(ctx context.Context, cmd *cobra.Command, target string, a *asked) error {
	given := cmd.Flags().Changed
	if f.like.path == "" {
		for _, name := range []string{"fd", "pid", "stream"} {
			if given(name) {
				return cli.Usage("--%s is of --like FILE", name)
			}
		}
		return nil
	}
	if !strings.HasPrefix(target, "tcp://") {
		return cli.Usage("--like sends to tcp://HOST:PORT alone, not to %s", target)
	}
	if i := slices.IndexFunc(unlike, given); i >= 0 {
		return cli.Usage("--%s does not go with --like, which takes it from the file", unlike[i])
	}
	if a.sweeps() || given("rate") && a.from == 0 {
		return cli.Usage("--like goes with one --rate and one number of --conns")
	}
	c, err := f.like.read(ctx)
	if err != nil {
		return err
	}
	rate := 0.0
	if given("rate") {
		rate = a.from
	}
	if !given("conns") {
		a.conns = []int{1}
	}
	p := &a.plan
	if p.Target, p.Times, err = load.Like(p.Target, c, a.conns[0], rate); err != nil {
		return err
	}
	a.from = p.Times.Rate(a.conns[0])
	a.to = a.from
	f.take(c, given)
	tellLike(cmd.ErrOrStderr(), c, a.from)
	return nil
}

// take takes what the program had set. A flag that was given counts more.
func (f *loadFlags) take(c conversation.Conversation, given func(string) bool) {
	if c.NoDelay != nil && !given("nodelay") {
		f.noDelay = *c.NoDelay
	}
	if c.QuickAck != nil && !given("quickack") {
		f.quickAck, f.quickAckSet = *c.QuickAck, true
	}
	if c.SendBuffer > 0 && !given("sndbuf") {
		f.options.SendBuffer = c.SendBuffer
	}
	if c.ReceiveBuffer > 0 && !given("rcvbuf") {
		f.options.ReceiveBuffer = c.ReceiveBuffer
	}
	if c.Congestion != "" && !given("congestion") {
		f.options.Congestion = c.Congestion
	}
	if c.Timeout > 0 && !given("timeout") {
		f.timeout = c.Timeout
	}
}

// read reads the file as what it is: a recording, a capture or a strace.
func (f *likeFlags) read(ctx context.Context) (c conversation.Conversation, err error) {
	s, err := ready(f.path)
	if err != nil {
		return c, err
	}
	defer s.close()
	r, err := s.open(f.path)
	var none *recording.NotRecordingError
	switch {
	case err == nil && f.fd < 0:
		return c, cli.Usage("--like %s is a recording: say which descriptor with --fd N, and --pid P where several processes have one", f.path)
	case err == nil:
		return recorded.Conversation(r, f.path, f.pid, f.fd)
	case !errors.As(err, &none):
		return c, err
	}
	in, err := reader.Open(f.path)
	if err != nil {
		return c, err
	}
	head := in.Head()
	isCapture, isTrace := capture.Sniff(head), strace.Sniff(head)
	_ = in.Close()
	switch {
	case isCapture && (f.stream < 0 || f.fd >= 0):
		return c, cli.Usage("--like %s is a capture: say which TCP connection with --stream N (tcp.stream of Wireshark)", f.path)
	case isCapture:
		return pcap.Conversation(ctx, f.path, f.stream)
	case isTrace && (f.fd < 0 || f.stream >= 0):
		return c, cli.Usage("--like %s is a trace of strace: say which descriptor with --fd N, and --pid P where several processes have one", f.path)
	case isTrace:
		return strace.Conversation(ctx, f.path, f.pid, f.fd)
	}
	return c, cli.Usage("--like %s is neither a recording of snag, nor a capture, nor a trace of strace", f.path)
}

// tellLike says what was taken, and what was not there.
func tellLike(w io.Writer, c conversation.Conversation, rate float64) {
	m := c.Messages()
	least, most, writes, answer := 1<<62, 0, 0, 0
	for _, one := range m {
		size := 0
		for _, n := range one.Writes {
			size += n
		}
		least, most, writes, answer = min(least, size), max(most, size), max(writes, len(one.Writes)), max(answer, one.Answer)
	}
	fmt.Fprintf(w, "like %s: %s of %s to %s bytes in up to %s, answers of up to %s bytes, %s per second\n", c.From, units.Plural(len(m), "message"),
		units.Count(float64(least)), units.Count(float64(most)), units.Plural(writes, "write"), units.Count(float64(answer)), trim(rate))
	for _, s := range c.Set {
		fmt.Fprintf(w, "  %s\n", s)
	}
	if len(c.Lacks) > 0 {
		fmt.Fprintf(w, "  not in it: %s\n", strings.Join(c.Lacks, "; "))
	}
}

// trim writes a rate with few digits: 9.5, 1200.
func trim(v float64) string { return fmt.Sprintf("%.4g", v) }
