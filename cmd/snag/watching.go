package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"snag/cmd/snag/livepage"
	"snag/internal/cli"
	"snag/internal/netns"
	"snag/internal/private"
	"snag/internal/web"
	"snag/probes"
	"snag/probes/probe"
	"snag/probes/streams"
	"snag/probes/streams/decoder"
	"snag/probes/streams/figures"
	"snag/probes/streams/picture"
	"snag/probes/streams/sound"
	"snag/probes/streams/watch"
	"snag/recording"
)

// watching is a snag watch with all that its flags asked for.
type watching struct {
	f         watchFlags
	list      *watch.ListFile
	discovery []*watch.Discovery
	watcher   *watch.Watcher
	metrics   *watch.Metrics
	page      *livepage.Server // nil: there is none
	show      output

	frames   *figures.FrameLog
	file     *os.File
	recorder *recording.Writer
	capture  *capturing    // nil: streams are read
	host     *hostside     // nil: the host is not recorded
	inside   *netns.Handle // nil: snag's own namespace
}

// output is how a watch is shown: lines, JSON lines, or the table.
type output interface {
	Event(watch.Happened)
	Note(text string)
	// Verdict is what the host's recording told of a stream.
	Verdict(j watch.Judged)
	// Show runs until ctx ends, or the user has seen enough.
	Show(ctx context.Context, snapshot func() watch.Snapshot) error
}

// newWatching opens all that can be found wanting before anything is watched.
func newWatching(f watchFlags) (*watching, error) {
	s := &watching{f: f}
	if f.picture {
		if err := decoder.Check(); err != nil {
			return nil, fmt.Errorf("--picture: %w", err)
		}
	}
	entries, places, err := f.asked()
	if err != nil {
		return nil, err
	}
	if f.netns != "" {
		if s.inside, err = probes.OpenNetns(f.netns); err != nil {
			return nil, cli.Usage("--netns: %v", err)
		}
	}
	layers, err := layersOfEach(f.layers)
	if err != nil {
		return nil, err
	}
	if s.discovery, err = discoveries(f.discover, f.credentials, layers, s.inside); err != nil {
		return nil, err
	}
	labels, err := f.labels()
	if err != nil {
		return nil, err
	}
	s.show = newOutput(f)
	alarms, err := f.alarms(s.show.Note)
	if err != nil {
		return nil, err
	}
	anchor := probe.NewAnchor()
	if f.isPassive() {
		if s.capture, err = newCapturing(f, s.inside); err != nil {
			return nil, err
		}
		anchor = s.capture.anchor(anchor)
	}
	o := watch.Options{
		Open: streams.Open, Anchor: anchor, Most: f.most, PerSecond: f.perSecond, Timeout: f.timeout,
		Every: f.every, Threshold: f.threshold, Tell: s.show.Event, Note: s.show.Note, Alarms: alarms,
		MetricLabels: labels,
	}
	o.Compare = s.capture != nil || f.host
	if f.picture {
		o.Pictures = &watch.Pictures{Every: f.look, Decode: picture.Decode, Listen: sound.Decode}
	}
	if s.inside != nil {
		o.Netns, o.NetnsID = s.inside.Path, s.inside.ID
	}
	if s.capture != nil {
		o.Now, o.Seen, o.Over = s.capture.now(), s.capture.seen(), f.read != ""
	}
	if f.listen != "" {
		if s.metrics, err = watch.Listen(f.listen, cli.Version); err != nil {
			return nil, err
		}
	}
	if f.page != "" {
		at, err := web.ParseAddress(f.page)
		if err != nil {
			return nil, errors.Join(cli.Usage("--page: %v", err), s.close())
		}
		if s.page, err = livepage.Listen(at); err != nil {
			return nil, errors.Join(err, s.close())
		}
		o.Remember = true
	}
	if err := s.open(&o); err != nil {
		return nil, errors.Join(err, s.close())
	}
	if f.host {
		if s.host, err = newHostside(s.show.Note, s.show.Verdict); err != nil {
			return nil, errors.Join(err, s.close())
		}
		o.Stopped = s.host.onStop
	}
	s.watcher = watch.New(o)
	if s.host != nil {
		s.host.w = s.watcher
	}
	s.watcher.Set("the command line", entries)
	s.watcher.Set("--layers", places)
	if f.list != "" {
		s.list = watch.NewListFile(f.list)
		s.list.Layers(layers)
		entries, problems, _, err := s.list.Look(time.Now())
		if err != nil {
			return nil, errors.Join(cli.Usage("--list: %v", err), s.close())
		}
		s.watcher.SetList(s.list, entries, problems)
	}
	return s, nil
}

// open opens the files that are written to.
func (s *watching) open(o *watch.Options) error {
	if s.f.frames != "" {
		file, err := private.Create(s.f.frames)
		if err != nil {
			return fmt.Errorf("--frames: %w", err)
		}
		s.file, s.frames = file, figures.NewFrameLog(file, o.Anchor)
		o.Frames = s.frames
	}
	if s.f.out != "" {
		create := probes.CreateWatch
		if s.f.read != "" {
			create = probes.CreateRead
		}
		w, err := create(s.f.out, cli.Version, o.Anchor)
		if err != nil {
			return fmt.Errorf("--out: %w", err)
		}
		s.recorder, o.Sink = w, w
	}
	return nil
}

// run watches until it is time, ctx ends, or whoever looks has seen enough.
func (s *watching) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if s.f.window > 0 {
		ctx, cancel = context.WithTimeout(ctx, s.f.window)
		defer cancel()
	}
	var running sync.WaitGroup
	var captured error
	if s.capture != nil {
		running.Go(func() {
			defer cancel()
			captured = s.capture.run(ctx, s.watcher, s.show.Note)
		})
	}
	if s.f.read == "" {
		running.Go(func() { s.watcher.Run(ctx) })
	}
	if s.host != nil {
		if os.Geteuid() != 0 {
			s.show.Note("--host: without root little of the host can be seen: who stopped a stream will seldom be proved")
		}
		stayLean(ctx)
		running.Go(func() { s.host.run(ctx) })
	}
	running.Go(func() { giveBackStart(ctx) })
	if s.list != nil {
		running.Go(func() { s.watcher.FollowList(ctx, s.list) })
	}
	for _, d := range s.discovery {
		running.Go(func() { s.watcher.FollowDiscovery(ctx, d) })
	}
	if s.metrics != nil {
		running.Go(func() { s.metrics.Serve(ctx, s.watcher) })
	}
	if s.page != nil {
		s.show.Note(s.page.Note())
		running.Go(func() { s.page.Serve(ctx, s.watcher, s.show.Note) })
	}
	if s.frames != nil {
		running.Go(func() { s.flush(ctx) })
	}
	err := s.show.Show(ctx, s.watcher.Snapshot)
	cancel()
	running.Wait()
	s.watcher.End() // the host's last verdict is there
	return errors.Join(captured, err)
}

// flush hands logged frames to the file each second: a file that is followed must
// not lag behind.
func (s *watching) flush(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
			if err := s.frames.Flush(); err != nil {
				s.show.Note(fmt.Sprintf("--frames: %v; no more frames are logged", err))
				return
			}
		}
	}
}

// close ends what is written.
func (s *watching) close() error {
	var errs []error
	if s.inside != nil {
		errs = append(errs, s.inside.Close())
	}
	if s.file != nil {
		if err := errors.Join(s.frames.Flush(), s.file.Close()); err != nil {
			errs = append(errs, fmt.Errorf("--frames: %w", err))
		}
	}
	if s.host != nil {
		if err := s.host.close(); err != nil {
			errs = append(errs, fmt.Errorf("--host: %w", err))
		}
	}
	if s.recorder != nil {
		if s.watcher != nil {
			cost := s.watcher.Measured().Own.Total
			for _, c := range streams.Coverage(s.watcher) {
				if c.Probe == "streams.figures" {
					c.Cost = cost // of this process, which does nothing else
				}
				s.recorder.Append(c)
				if s.capture != nil && c.Probe == "streams.figures" {
					s.recorder.Append(s.capture.coverage(c))
				}
			}
		}
		errs = append(errs, s.recorder.Close())
	}
	return errors.Join(errs...)
}
