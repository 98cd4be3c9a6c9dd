package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"snag/internal/cli"
	"snag/probes/probe"
	"snag/probes/streams"
	"snag/probes/streams/decoder"
	"snag/probes/streams/picture"
	"snag/probes/streams/sound"
	"snag/probes/streams/watch"
	"snag/recording"
)

// recordMostWait is how long a stream that is gone is not asked for. It is less than of snag watch, as
// by when it came back the cause is known.
const recordMostWait = 10 * time.Second

// viewing reads the streams of snag record. It outlives the pieces of the ring and the recorder's
// sessions, so that each stream has one connection.
type viewing struct {
	w       *watch.Watcher
	list    *watch.ListFile // nil: none
	entries []watch.Entry
	note    func(string)

	mu   sync.Mutex
	told map[string]bool // streams that could not be read, and have given no frame since
}

// newViewing returns nil if no stream was asked for.
func newViewing(f streamFlags, note func(string)) (*viewing, error) {
	if err := f.check(); err != nil || !f.given() {
		return nil, err
	}
	layers, err := layersOfEach(f.layers)
	if err != nil {
		return nil, err
	}
	of := f.layers
	if layers != nil {
		of = ""
	}
	entries, places, err := streams.Entries(f.urls, of)
	if err != nil {
		return nil, cli.Usage("%v", err)
	}
	v := &viewing{note: note, told: map[string]bool{}}
	o := watch.Options{
		Open: streams.Open, Anchor: probe.NewAnchor(), Every: streams.ReadEvery, Compare: true, MostWait: recordMostWait,
		Most: f.most, Tell: v.tell, Note: note,
	}
	if f.picture {
		if err := decoder.Check(); err != nil {
			return nil, fmt.Errorf("--picture: %w", err)
		}
		o.Pictures = &watch.Pictures{Every: f.look, Decode: picture.Decode, Listen: sound.Decode}
	}
	v.w = watch.New(o)
	v.w.Set("--stream", entries)
	v.w.Set("--layers", places)
	v.entries = slices.Concat(entries, places)
	if f.list != "" {
		v.list = watch.NewListFile(f.list)
		v.list.Layers(layers)
		listed, problems, _, err := v.list.Look(time.Now())
		if err != nil {
			return nil, cli.Usage("--list: %v", err)
		}
		v.w.SetList(v.list, listed, problems)
		v.entries = append(v.entries, listed...)
	}
	if text := leftOut(v.entries, f.most); text != "" {
		note(text)
	}
	return v, nil
}

// mostLeftNamed of the streams that are not read are named.
const mostLeftNamed = 5

// leftOut says which streams are not read; "" where all are. The watch itself says how many.
func leftOut(all []watch.Entry, most int) string {
	first, left := watch.FirstStreams(all, most)
	if left == 0 {
		return ""
	}
	read, names := map[string]bool{}, []string{}
	for _, e := range first {
		read[e.Name] = true
	}
	for _, e := range all {
		if !read[e.Name] && !slices.Contains(names, e.Name) {
			names = append(names, e.Name)
		}
	}
	text := strings.Join(names[:min(len(names), mostLeftNamed)], ", ")
	if more := left - mostLeftNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return "streams that are not read: " + text
}

// probe replaces the recorder's probe of streams.
func (v *viewing) probe() *probe.Probe {
	if v == nil {
		return nil
	}
	return streams.Kept(v.w, v.entries)
}

// run reads until ctx ends.
func (v *viewing) run(ctx context.Context) {
	if v == nil {
		return
	}
	var running sync.WaitGroup
	if v.list != nil {
		running.Go(func() { v.w.FollowList(ctx, v.list) })
	}
	v.w.Run(ctx)
	running.Wait()
	v.w.End()
}

// tell says once that a stream cannot be read. What happens to it later is an incident.
func (v *viewing) tell(h watch.Happened) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch h.Kind {
	case recording.EventStreamFirstFrame:
		delete(v.told, h.Stream)
	case recording.EventStreamRefused:
		if !v.told[h.Stream] {
			v.told[h.Stream] = true
			v.note(fmt.Sprintf("stream %s cannot be read: %s; recording goes on, and the stream is asked for again", h.Stream, h.Why))
		}
	}
}
