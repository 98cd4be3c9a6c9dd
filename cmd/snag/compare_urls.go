package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"snag/compare"
	"snag/internal/cli"
	"snag/internal/private"
	"snag/internal/secrets"
	"snag/probes"
	"snag/probes/asking"
	"snag/probes/probe"
	"snag/probes/streams"
	"snag/probes/streams/watch"
	"snag/recording"
)

// urlPair are two places of the same stream or service.
type urlPair struct {
	text    [2]string // as given
	url     [2]*url.URL
	shown   [2]string // without credentials, and without the query's values
	streams bool
}

const shortestPair = 10 * time.Second // fewer blocks than are compared are of no use

// pairOf reads --a and --b: both live streams, or both services over HTTP.
func pairOf(a, b string, window time.Duration) (p urlPair, err error) {
	if window < shortestPair || window > time.Hour {
		return p, cli.Usage("--for %s: with --a and --b from %s to 1h", window, shortestPair)
	}
	var live [2]bool
	for i, text := range []string{a, b} {
		flag := []string{"--a", "--b"}[i]
		e, err := watch.ParseArgument(text, flag)
		if err != nil {
			return p, cli.Usage("%s: %v", flag, err)
		}
		p.text[i], p.url[i], p.shown[i] = text, e.URL, watch.ShownURL(e.URL)
		_, notLive := streams.Open(e.URL)
		live[i] = notLive == nil
		service := isService(e.URL)
		live[i] = live[i] && !service
		if !live[i] && !service {
			return p, cli.Usage("%s %s: %v, and http:// and https:// of a service", flag, p.shown[i], notLive)
		}
	}
	if live[0] != live[1] {
		return p, cli.Usage("--a %s and --b %s: one is a live stream and the other is not; name two streams or two services", p.shown[0], p.shown[1])
	}
	p.streams = live[0]
	return p, nil
}

// isService reports whether a URL is of HTTP and its name is not that of a live stream.
func isService(u *url.URL) bool {
	web := strings.EqualFold(u.Scheme, "http") || strings.EqualFold(u.Scheme, "https")
	return web && u.Host != "" && !slices.Contains([]string{".m3u8", ".m3u", ".mpd", ".ts", ".flv"}, strings.ToLower(path.Ext(u.Path)))
}

func (f *compareFlags) runURLs(ctx context.Context, to *pageWriter) error {
	p, err := pairOf(f.a, f.b, f.window)
	if err != nil {
		return err
	}
	ctx, over := untilAsked(ctx, func() string { return "" })
	defer over()
	progress := newProgress(os.Stderr, f.json)
	progress.ends = "compares"
	if !p.streams {
		if f.html != "" {
			return cli.Usage("--html: of two services that are asked there is no recording to draw; record their hosts with sudo snag find")
		}
		c, err := compareServices(ctx, p, f.window, progress)
		if err != nil {
			return err
		}
		return f.print(c, p.shown[0], p.shown[1], to)
	}
	a, b, err := recordBoth(ctx, p, f.window, progress)
	if err != nil {
		return err
	}
	return f.print(compare.Together(a, b), p.shown[0], p.shown[1], to)
}

// recordBoth reads two streams at the same time, each into a recording.
func recordBoth(ctx context.Context, p urlPair, window time.Duration, progress *progress) (a, b *recording.Recording, err error) {
	var out [2]*recording.Recording
	var failed [2]error
	var done sync.WaitGroup
	for i := range out {
		dir, err := private.New(time.Now())
		if err != nil {
			return nil, nil, err
		}
		defer os.RemoveAll(dir)
		plan := probes.Plan{
			Dir: dir, For: window, Snag: cli.Version, Streams: []string{p.text[i]}, Probes: []string{streams.Probe.Name},
			Notice: func(text string) { progress.notice([]string{"A", "B"}[i] + ": " + text) },
		}
		if i == 0 {
			plan.Tick = progress.tick
		}
		done.Go(func() {
			if failed[i] = probes.Record(ctx, plan); failed[i] == nil {
				out[i], failed[i] = recording.Open(dir)
			}
		})
	}
	done.Wait()
	progress.done()
	for i, err := range failed {
		if err != nil {
			return nil, nil, fmt.Errorf("read %s: %w", p.shown[i], err)
		}
	}
	return out[0], out[1], nil
}

// compareServices asks two services in turn.
func compareServices(ctx context.Context, p urlPair, window time.Duration, progress *progress) (*compare.Comparison, error) {
	anchor := probe.NewAnchor()
	of := asking.Both(ctx, p.url[0], p.url[1], window, progress.tick)
	progress.done()
	for i, all := range of {
		for _, one := range all {
			if strings.Contains(strings.ToLower(one.Type), "mpegurl") {
				return nil, cli.Usage("%s answers with an HLS playlist; its name must end in .m3u8 to be read as a live stream", p.shown[i])
			}
		}
	}
	r := &recording.Recording{Manifest: recording.Manifest{Anchor: anchor, Start: recording.Time(anchor.Wall)}}
	r.Manifest.End = r.Manifest.Start.Add(min(window, time.Since(time.Unix(0, anchor.Wall)).Round(time.Second)))
	r.Manifest.Host, _ = os.Hostname() // a host without a name is still a host
	return compare.Answers(r, r, p.shown[0], p.shown[1], askedOf(of[0]), askedOf(of[1])), nil
}

func askedOf(all []asking.Answer) (out []compare.Asked) {
	for _, x := range all {
		why := x.Err
		if x.Status != 0 {
			why = fmt.Sprintf("it answers with %d", x.Status)
		}
		out = append(out, compare.Asked{At: x.At.Seconds(), Took: x.Took.Seconds(), Failed: x.Failed(), None: x.Status == 0, Why: secrets.Text(why)})
	}
	return out
}
