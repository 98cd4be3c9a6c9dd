package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/internal/units"
	"snag/load/rtmp"
	"snag/report/loaded"
)

// mostFile is the largest file that publishers send: it is held in memory.
const mostFile = 1 << 30

func loadRTMP(ctx context.Context, cmd *cobra.Command, f *loadFlags, target string) (err error) {
	p := rtmp.Plan{Players: f.media.players, Publishers: f.media.publishers, For: f.window, Timeout: f.timeout, Options: f.options, Insecure: f.request.Insecure}
	if p.Target, err = rtmp.Parse(target); err != nil {
		return cli.Usage("%v", err)
	}
	switch {
	case p.Players == 0 && p.Publishers == 0:
		return cli.Usage("%s: say how many play it (--players N) or publish it (--publishers N --file FILE.flv)", p.Target.Shown)
	case p.Publishers > 0 && f.media.file == "":
		return cli.Usage("--publishers %d: say what they send: --file FILE.flv", p.Publishers)
	case p.Publishers == 0 && f.media.file != "":
		return cli.Usage("--file is what publishers send: --publishers N")
	}
	if f.media.file != "" {
		if p.File, err = readFLV(f.media.file); err != nil {
			return err
		}
	}
	if err := p.Check(); err != nil {
		return cli.Usage("%v", err)
	}
	here, err := p.Here(ctx)
	if err != nil {
		return fmt.Errorf("load %s: %w", p.Target.Shown, err)
	}
	if n := p.Asks(); !here && n > mostUnasked {
		if err := f.consent(cmd).to(p.Target.Shown, "for", fmt.Sprintf("more than %d clients and messages per second (these are %s)", mostUnasked, units.Count(n))); err != nil {
			return err
		}
	}
	r, err := rtmp.Run(ctx, p)
	if err != nil {
		return err
	}
	return showMedia(cmd, f.json, loaded.RTMP{Result: r}, r.Honest())
}

func readFLV(path string) (rtmp.File, error) {
	st, err := os.Stat(path)
	if err != nil {
		return rtmp.File{}, err
	}
	if !st.Mode().IsRegular() || st.Size() > mostFile {
		return rtmp.File{}, cli.Usage("--file %s: an FLV file of up to 1 GiB", path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return rtmp.File{}, err
	}
	file, err := rtmp.NewFile(b)
	if err != nil {
		return file, cli.Usage("--file %s: %v: ffmpeg -i %s -c copy OUT.flv makes one", path, err, path)
	}
	return file, nil
}
