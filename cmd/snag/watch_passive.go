package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/internal/netns"
	"snag/probes/streams/passive"
	"snag/probes/streams/passive/capture"
	"snag/probes/streams/stream"
	"snag/probes/streams/watch"
	"snag/recording"
)

func (f *watchFlags) passiveFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.passive, "passive", false, "judge the RTMP and RTSP that goes over this host, by its packets, without a reader; beside URLs, their streams' names are given to connections with the same frames")
	flags.StringVar(&f.iface, "iface", "", "with --passive: packets of this interface (default: of all)")
	flags.UintSliceVar(&f.ports, "port", nil, "with --passive or --read: packets of these ports (default: 1935, 554, 8554; in a file, all)")
	flags.StringVar(&f.read, "read", "", "judge a pcap or pcapng file, as --passive would have then")
}

func (f *watchFlags) isPassive() bool { return f.passive || f.read != "" }

func (f *watchFlags) checkPassive(cmd *cobra.Command) error {
	switch {
	case f.read != "" && (len(f.urls) > 0 || f.list != "" || f.layers != "" || len(f.discover) > 0):
		return cli.Usage("--read looks at packets of then: without a URL, --list, --layers, --discover")
	case f.passive && f.read != "":
		return cli.Usage("either --passive or --read FILE")
	case f.read != "" && f.netns != "":
		return cli.Usage("--netns: a file is of the namespace that it was captured in")
	case f.read != "" && f.iface != "":
		return cli.Usage("--iface is of --passive: a file has the interfaces that it was captured on")
	case f.read != "" && f.page != "":
		return cli.Usage("--page: the file's time is over; with --out DIR, snag report DIR makes a page of it")
	case f.read != "" && (f.onFreeze != "" || f.webhook != "" || cmd.Flags().Changed("for")):
		return cli.Usage("--read judges what is over: without --on-freeze, --webhook, --for")
	}
	for _, p := range f.ports {
		if p == 0 || p > math.MaxUint16 {
			return cli.Usage("--port %d: from 1 to 65535", p)
		}
	}
	if f.read != "" {
		if _, err := os.Stat(f.read); err != nil {
			return cli.Usage("--read: %v", err)
		}
	}
	return nil
}

// capturing hands streams of captured packets to a watch.
type capturing struct {
	o     passive.Options
	file  string
	clock atomic.Int64 // up to when packets were handed on: monotonic ns, of a file since 1970
	first int64        // of a file

	mu    sync.Mutex
	stats passive.Stats
}

func newCapturing(f watchFlags, inside *netns.Handle) (*capturing, error) {
	c := &capturing{file: f.read, o: passive.Options{Iface: f.iface, Netns: inside}}
	for _, p := range f.ports {
		c.o.Ports = append(c.o.Ports, uint16(p))
	}
	c.o.Stats = func(s passive.Stats) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.stats = s
	}
	if c.file != "" {
		var err error
		if c.first, err = capture.First(c.file); err != nil {
			return nil, cli.Usage("--read: %v", err)
		}
		c.clock.Store(c.first)
	}
	return c, nil
}

// anchor is what the frames' clock means: a file's is the wall's already.
func (c *capturing) anchor(live recording.Anchor) recording.Anchor {
	if c.file == "" {
		return live
	}
	return recording.Anchor{Wall: c.first, Monotonic: c.first}
}

// now is the clock to watch by; nil: the monotonic one.
func (c *capturing) now() func() int64 {
	if c.file == "" {
		return nil
	}
	return c.clock.Load
}

// seen is up to when the live capture was handed on.
func (c *capturing) seen() func() int64 {
	if c.file != "" {
		return nil
	}
	return c.clock.Load
}

// run captures until ctx ends, or reads the file.
func (c *capturing) run(ctx context.Context, w *watch.Watcher, note func(string)) error {
	full := false
	begin := func(d passive.Conn) stream.Sink {
		j := watch.Joined{
			Name: d.Name, Named: d.Named, URL: d.URL, Protocol: d.Protocol, Side: d.Side, Server: d.Local, Remote: d.Remote,
			Leaves: d.Side == recording.StreamSideConsumer && c.file == "",
		}
		if c.file == "" {
			j.Lag = capture.Lag
		}
		if s := w.Join(j); s != nil {
			return s
		}
		if !full {
			full = true
			note("more streams go over this host than are watched: --max-streams")
		}
		return nothing{}
	}
	var err error
	if c.file == "" {
		c.tellDrops(note)
		c.o.Tick = c.clock.Store
		err = passive.Run(ctx, c.o, begin)
	} else {
		err = w.Feed(ctx, func(tick func()) error {
			c.o.Tick = func(at int64) {
				c.clock.Store(at)
				tick()
			}
			return passive.ReadFile(ctx, c.file, c.o, begin)
		})
		if passive.Torn(err) {
			note(err.Error())
			err = nil
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	if s.Streams == 0 && err == nil && (c.file != "" || ctx.Err() != nil) {
		note(fmt.Sprintf("no RTMP was found in %d packets (is it another --port, encrypted as RTMPS, or another protocol?)", s.Capture.Packets))
	}
	if s.Capture.Dropped > 0 {
		note(fmt.Sprintf("the capture missed %d packets of %d", s.Capture.Dropped, s.Capture.Packets))
	}
	return err
}

// tellDrops says while the capture runs that it misses packets, every 10 s at the most.
func (c *capturing) tellDrops(note func(string)) {
	keep, told, quiet := c.o.Stats, uint64(0), 0
	c.o.Stats = func(s passive.Stats) { // once a second
		keep(s)
		if quiet--; s.Capture.Dropped > told && quiet <= 0 {
			note(fmt.Sprintf("the capture misses packets, %d so far of %d: what stops or is missing just then is not counted as any stream's", s.Capture.Dropped, s.Capture.Packets))
			told, quiet = s.Capture.Dropped, 10
		}
	}
}

// coverage says what the capture measured and missed; figures is the streams' own row.
func (c *capturing) coverage(figures recording.Coverage) recording.Coverage {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	row := recording.Coverage{
		Probe: "streams.passive", State: recording.CoverageOK, Since: figures.Since, Late: figures.Late, Lost: s.Capture.Dropped,
	}
	if s.TCP.Lost > 0 || s.Capture.Dropped > 0 {
		row.State = recording.CoveragePartial
		row.Why = fmt.Sprintf("%d bytes of the connections are not in the capture, %d packets found no room in it", s.TCP.Lost, s.Capture.Dropped)
		row.Cure = "capture fewer ports (--port), on a machine that is less busy; a file with whole packets (tcpdump -s 0)"
	}
	return row
}

// nothing is for a stream that nobody has room to watch.
type nothing struct{}

func (nothing) Published(int64, string, string) {}
func (nothing) Frame(stream.Frame)              {}
func (nothing) Params(stream.Params)            {}
func (nothing) Count(stream.Count, uint64)      {}
func (nothing) Gauge(stream.Gauge, float64)     {}
