package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"snag/internal/cli"
	"snag/internal/units"
	"snag/load"
	"snag/load/rtp"
	"snag/report/loaded"
)

// mediaFlags are those of targets that are sent media, or play them.
type mediaFlags struct {
	bitrate             string
	shape               rtp.Shape
	players, publishers int
	file                string
}

func (f *mediaFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.bitrate, "bitrate", "4M", "rtp+udp: bits per second of each sender, as 800k or 4M")
	flags.Float64Var(&f.shape.FPS, "fps", 25, "rtp+udp: frames per second; the packets of a frame are sent at once")
	flags.DurationVar(&f.shape.GOP, "gop", 2*time.Second, "rtp+udp: from key frame to key frame")
	flags.Float64Var(&f.shape.KeySize, "key-size", 8, "rtp+udp: the size of a key frame, times an ordinary one")
	flags.BoolVar(&f.shape.Pace, "pace", false, "rtp+udp: send the packets of a frame evenly until the next frame")
	flags.IntVar(&f.players, "players", 0, "rtmp: how many play the stream")
	flags.IntVar(&f.publishers, "publishers", 0, "rtmp: how many publish --file, as STREAM-1, STREAM-2 …")
	flags.StringVar(&f.file, "file", "", "rtmp: the FLV file that publishers send")
}

// The flags of each kind of media target; all others are of requests.
var mediaOwn = map[string][]string{
	"rtp+udp": {"bitrate", "fps", "gop", "key-size", "pace", "conns", "for", "sndbuf", "busy-poll", "cpu", "json", "yes"},
	"rtmp":    {"players", "publishers", "file", "for", "timeout", "insecure", "nodelay", "sndbuf", "rcvbuf", "congestion", "busy-poll", "json", "yes"},
}

// mediaScheme is the kind of media that a target is of; "": of none.
func mediaScheme(target string) string {
	scheme, _, _ := strings.Cut(target, "://")
	switch scheme {
	case "rtp+udp", "rtmp":
		return scheme
	case "rtmps":
		return "rtmp"
	}
	return ""
}

// fits is an error where a flag was given that is not of this kind of target.
func fits(cmd *cobra.Command, scheme string) (err error) {
	local := cmd.LocalFlags()
	cmd.Flags().Visit(func(given *pflag.Flag) {
		name := given.Name
		if err != nil || local.Lookup(name) == nil {
			return
		}
		if scheme != "" && !slices.Contains(mediaOwn[scheme], name) {
			err = cli.Usage("--%s is not for %s:// (its flags: --%s)", name, scheme, strings.Join(mediaOwn[scheme], ", --"))
		}
		own, used, _ := strings.Cut(given.Usage, ": ")
		if scheme == "" && used != "" && (own == "rtp+udp" || own == "rtmp") {
			err = cli.Usage("--%s is for %s:// alone", name, own)
		}
	})
	return err
}

// loadMedia runs the load of a target that is no request and answer.
func loadMedia(ctx context.Context, cmd *cobra.Command, f *loadFlags, target string) error {
	f.options.NoDelay = &f.noDelay
	if mediaScheme(target) == "rtp+udp" {
		return loadRTP(ctx, cmd, f, target)
	}
	return loadRTMP(ctx, cmd, f, target)
}

func loadRTP(ctx context.Context, cmd *cobra.Command, f *loadFlags, target string) (err error) {
	p := rtp.Plan{Name: target, Senders: 1, Shape: f.media.shape, For: f.window, Options: f.options}
	if p.Address, err = rtp.Parse(target); err != nil {
		return cli.Usage("%v", err)
	}
	if p.Shape.Bitrate, err = rtp.ParseBitrate(f.media.bitrate); err != nil {
		return cli.Usage("--bitrate %s: %v", f.media.bitrate, err)
	}
	if cmd.Flags().Changed("conns") {
		conns, err := load.ParseConns(f.conns)
		if err != nil || len(conns) > 1 {
			return cli.Usage("--conns %s: rtp+udp takes one number of senders", f.conns)
		}
		p.Senders = conns[0]
	}
	if err := p.Check(); err != nil {
		return cli.Usage("%v", err)
	}
	here, err := p.Here(ctx)
	if err != nil {
		return fmt.Errorf("load %s: %w", target, err)
	}
	if n := p.Shape.PacketRate() * float64(p.Senders); !here && n > mostUnasked {
		if err := f.consent(cmd).to(target, "to", fmt.Sprintf("send it more than %d packets per second (these are %s)", mostUnasked, units.Count(n))); err != nil {
			return err
		}
	}
	r, err := rtp.Run(ctx, p)
	if err != nil {
		return fmt.Errorf("load %s: %w", target, err)
	}
	return showMedia(cmd, f.json, loaded.RTP{Result: r}, r.Honest())
}

// showMedia shows what was measured; why: it is not what was asked for.
func showMedia(cmd *cobra.Command, json bool, s printed, why string) error {
	if err := show(cmd, json, s); err != nil {
		return err
	}
	if why != "" {
		return &cli.Exit{Code: cli.ExitCantTell}
	}
	return nil
}
