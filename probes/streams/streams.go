package streams

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"snag/internal/netns"
	"snag/probes/probe"
	"snag/probes/streams/figures"
	"snag/probes/streams/files"
	"snag/probes/streams/ingest"
	"snag/probes/streams/layers"
	"snag/probes/streams/watch"
	"snag/recording"
)

// Probe reads the live streams that were asked for while the rest is recorded, as
// a viewer would: their freezes become the symptom. Without a stream it does nothing.
var Probe = probe.Probe{Name: name, Start: start}

const (
	name = "streams"
	// Measures of this probe, as in recording.Measures.
	measureFigures = "streams.figures"
	measureLayers  = "streams.layers"

	coverEvery = 10 * time.Second // for a recording that is cut off
)

type running struct {
	env    *probe.Env
	w      *watch.Watcher
	left   int // streams that a server lists and that are not read
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// idle is the probe that nobody asked for a stream.
type idle struct{}

// Stop has nothing to end.
func (idle) Stop() {}

func start(ctx context.Context, env *probe.Env) (probe.Running, error) {
	if len(env.Streams) == 0 && env.Layers == "" {
		return none(env, "no stream was asked for"), nil
	}
	return startWith(ctx, env, nil, 0)
}

// none says why no stream is read.
func none(env *probe.Env, why string) probe.Running {
	env.Sink.Append(recording.Coverage{
		Probe: name, State: recording.CoverageOff, Why: why,
		Cure: "snag find --stream URL, with the URL that the viewer has",
	})
	return idle{}
}

func startWith(ctx context.Context, env *probe.Env, listed []watch.Entry, left int) (probe.Running, error) {
	entries, of, err := Entries(env.Streams, env.Layers)
	if err != nil {
		return nil, err
	}
	inside, err := namespace(env)
	if err != nil {
		return nil, err
	}
	id := env.Netns
	if inside != "" {
		id = env.Target.NetnsID
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &running{env: env, left: left, cancel: cancel}
	r.w = watch.New(watch.Options{
		Open: Open, Anchor: env.Anchor, Sink: env.Sink, Tell: r.notice, Note: env.Notice,
		Netns: inside, NetnsID: id, Every: ReadEvery, Compare: true, MostWait: mostWait,
	})
	r.w.Set("--stream", entries)
	r.w.Set("--layers", of)
	r.w.Set("--discover", listed)
	senders := ingest.New(env, r.w)
	r.done.Go(func() { senders.Run(ctx) })
	r.done.Go(func() { r.w.Run(ctx) })
	written := files.New(env, segmented(slices.Concat(entries, of, listed)))
	r.done.Go(func() { written.Run(ctx) })
	r.done.Go(func() {
		probe.Every(ctx, coverEvery, func(time.Duration) { r.cover() })
	})
	return r, nil
}

// ReadEvery is how often a connection is read where nobody says otherwise: it
// halves the cost, and is under a frame's time at 50 frames per second.
const ReadEvery = 20 * time.Millisecond

// mostWait is how long a stream that is gone is not asked for: a find is short, and by whether it came
// back meanwhile, and by whom, the cause is known.
const mostWait = 2 * time.Second

// Entries are the streams that --stream asks for, and the places of the one that
// --layers does. Each can be read by somebody here.
func Entries(urls []string, layers string) (entries, places []watch.Entry, err error) {
	for _, raw := range urls {
		e, err := watch.ParseArgument(raw, "--stream")
		if err != nil {
			return nil, nil, fmt.Errorf("--stream: %w", err)
		}
		entries = append(entries, e)
	}
	if layers != "" {
		if places, err = watch.ParseLayers(layers, "--layers"); err != nil {
			return nil, nil, fmt.Errorf("--layers: %w", err)
		}
	}
	for _, e := range slices.Concat(entries, places) {
		if _, err := Open(e.URL); err != nil {
			return nil, nil, fmt.Errorf("%s %s: %w", e.From, watch.ShownURL(e.URL), err)
		}
	}
	return entries, places, nil
}

// segmented are those of the streams that may be served from files.
func segmented(entries []watch.Entry) []files.Stream {
	var out []files.Stream
	for _, e := range entries {
		if watch.Segmented(e) {
			out = append(out, files.Stream{Name: e.Name, Layer: e.Layer, Path: e.URL.Path})
		}
	}
	return out
}

// namespace is the path of the namespace that was asked for (--netns): what
// listens in it is read from inside.
func namespace(env *probe.Env) (string, error) {
	if env.Target.Netns == "" || env.Target.NetnsID == env.Netns || env.Target.NetnsID == 0 {
		return "", nil
	}
	found, err := netns.List(env.Proc, netns.NameDirs, env.Netns)
	if err != nil {
		return "", fmt.Errorf("read streams in namespace %s: %w", env.Target.Netns, err)
	}
	for _, n := range found.All {
		if n.ID == env.Target.NetnsID {
			return n.Path, nil
		}
	}
	return "", fmt.Errorf("read streams in namespace %s: it is gone", env.Target.Netns)
}

// notice shows the first of what a viewer feels while the recording runs.
func (r *running) notice(h watch.Happened) {
	if h.Kind == recording.EventStreamFreeze && h.Phase == figures.Begun && !h.Doubt {
		r.env.Notice(fmt.Sprintf("%s is frozen, without a frame since %s", h.Stream, h.T.Wall().Format("15:04:05.0")))
	}
}

// Stop ends the readers and says what they measured.
func (r *running) Stop() {
	r.cancel()
	r.done.Wait()
	r.cover()
}

func (r *running) cover() {
	for _, c := range Coverage(r.w) {
		r.env.Sink.Append(cutOff(c, r.left, "the servers list"))
	}
}

// Coverage says what a watch measured of what was asked for. Layers are off where
// nobody asked for any.
func Coverage(w *watch.Watcher) []recording.Coverage {
	m := w.Measured()
	c := recording.Coverage{
		Probe: measureFigures, State: recording.CoverageOK, Since: m.Since, Late: m.Own.Worst.Seconds(),
	}
	if m.Read < m.Streams {
		c.State, c.Why = recording.CoveragePartial, unread(m)
		c.Cure = "give the URL that a viewer has, from a host that reaches the server"
	}
	if m.Read+m.LetIn == 0 {
		c.State = recording.CoverageFailed
	}
	return []recording.Coverage{c, ofLayers(c, w.Matched())}
}

// ofLayers says what was measured between layers: as much as of the streams, less
// what could not be matched.
func ofLayers(c recording.Coverage, matched map[string]layers.How) recording.Coverage {
	c.Probe = measureLayers
	if len(matched) == 0 {
		return recording.Coverage{Probe: measureLayers, State: recording.CoverageOff, Why: "no layers were asked for", Cure: "--layers ingest=URL,edge=URL"}
	}
	told := 0
	for _, hop := range slices.Sorted(maps.Keys(matched)) {
		if how := matched[hop]; how == layers.Searching || how == layers.Unmatched {
			if told++; told <= maxHops {
				c.State, c.Why = recording.CoveragePartial, strings.TrimPrefix(c.Why+"; "+hop+": "+how.Why(), "; ")
			}
		}
	}
	if told > maxHops {
		c.Why += fmt.Sprintf("; so are %d more", told-maxHops)
	}
	return c
}

// maxHops are told one by one of those whose frames are not matched.
const maxHops = 5

func unread(m watch.Measured) string {
	var parts []string
	for _, why := range slices.Sorted(maps.Keys(m.Unread)) {
		parts = append(parts, fmt.Sprintf("%d× %s", m.Unread[why], why))
	}
	return fmt.Sprintf("no frame of %d of %d streams: %s", m.Streams-m.Read, m.Streams, strings.Join(parts, "; "))
}
