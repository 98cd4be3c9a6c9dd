package streams

import (
	"context"
	"strings"
	"sync"
	"testing"

	"snag/probes/probe"
	"snag/probes/streams/layers"
	"snag/probes/streams/watch"
	"snag/recording"
)

// What a real server lists is read by find as --stream reads one; and a watch takes a
// stream that is published while it runs with the next list, at each of its layers.
func TestListedByARealServer(t *testing.T) {
	o := startOrigin(t)
	o.publish("one")
	o.publish("two")
	d, err := watch.ParseDiscovery("nginx:http://" + o.http + " url=rtmp://" + o.rtmp + "/{app}/{stream}")
	if err != nil {
		t.Fatal(err)
	}
	var listed []watch.Entry
	o.await("both are published", func() bool {
		listed, _, err = d.Ask(context.Background())
		return err == nil && len(listed) == 2
	})

	read, left := watch.FirstStreams(listed, 1)
	var on sink
	env := &probe.Env{Proc: "/proc", Anchor: probe.NewAnchor(), Sink: &on, Notice: func(string) {}}
	r, err := Listed(read, left).Start(context.Background(), env)
	if err != nil {
		t.Fatal(err)
	}
	frames := func(stream string) int {
		on.mu.Lock()
		defer on.mu.Unlock()
		return on.samples["snag_stream_frames_total "+stream]
	}
	o.await("the first is measured", func() bool { return frames(read[0].Name) > 0 })
	r.Stop()
	c := on.coverage(measureFigures)
	if c.State != recording.CoveragePartial || !strings.Contains(c.Why, "of the streams that the servers list 1 were not read") {
		t.Errorf("%+v", c)
	}
	if len(read) != 1 || frames(listed[1].Name) != 0 {
		t.Errorf("%d streams were to be read; of %s there are %d samples", len(read), listed[1].Name, frames(listed[1].Name))
	}

	places, err := watch.ParseLayerTemplates("origin=rtmp://" + o.rtmp + "/{app}/{stream},edge=rtmp://" + o.rtmp + "/{app}/{stream}?again=1")
	if err != nil {
		t.Fatal(err)
	}
	d.Layers(places)
	w := watch.New(watch.Options{Open: Open, Anchor: probe.NewAnchor(), Every: ReadEvery})
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { w.Run(ctx) })
	done.Go(func() { w.FollowDiscovery(ctx, d) })
	defer done.Wait()
	defer cancel()
	o.await("both are well at both layers", func() bool { return w.Snapshot().States[watch.OK] == 4 })
	o.publish("three")
	o.await("the third is taken with the next list", func() bool {
		n := 0
		for _, r := range w.Snapshot().Rows {
			if r.Name == "live/three" && r.State == watch.OK && r.Labels["app"] == "live" {
				n++
			}
		}
		return n == 2
	})
	o.await("the frames of each are matched between its layers", func() bool {
		m := w.Matched()
		return len(m) == 3 && m["live/one: origin to edge"] == layers.Same && m["live/three: origin to edge"] == layers.Same
	})
}
