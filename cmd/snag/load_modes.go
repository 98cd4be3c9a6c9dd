package main

import (
	"snag/internal/cli"
	"snag/load"
)

// modes reads --pingpong, --spin and --bandwidth, which say themselves how one message follows another.
func (f *loadFlags) modes(given func(string) bool, out *asked) error {
	own := func(flag string, not ...string) error {
		for _, other := range not {
			if given(other) {
				return cli.Usage("%s with --%s: leave --%s out", flag, other, other)
			}
		}
		return nil
	}
	if f.streams < 1 {
		return cli.Usage("--streams %d: at least 1", f.streams)
	}
	if f.spin && f.options.CPU < 0 {
		return cli.Usage("--spin needs a CPU to stay on: --cpu N")
	}
	switch {
	case f.pingPong && f.bandwidth != "":
		return cli.Usage("--pingpong or --bandwidth: not both")
	case f.pingPong && given("conns"):
		return cli.Usage("--pingpong is on one connection: without --conns")
	case f.pingPong:
		if err := own("--pingpong", "rate", "every", "until", "deadline"); err != nil {
			return err
		}
		out.from, out.to, out.conns = 0, 0, []int{1}
	case f.bandwidth != "":
		if err := own("--bandwidth", "rate", "every", "until", "deadline", "hdr"); err != nil {
			return err
		}
		if len(out.conns) > 1 {
			return cli.Usage("--bandwidth: one number of --conns")
		}
		if !given("conns") {
			out.conns = []int{1}
		}
		bits, err := load.ParseBits(f.bandwidth)
		if err != nil {
			return cli.Usage("--bandwidth: %v", err)
		}
		out.bits = bits
	}
	return nil
}
