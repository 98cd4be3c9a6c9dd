package recorder

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"snag/probes/probe"
	"snag/probes/streams"
	"snag/probes/streams/stream"
	"snag/probes/streams/watch"
	"snag/recording"
)

// film is a server's stream of 25 frames per second, that stands still while it is frozen.
type film struct {
	opened atomic.Int64
	frozen atomic.Bool
}

func (f *film) read(ctx context.Context, _ *url.URL, sink stream.Sink, o stream.Options) error {
	f.opened.Add(1)
	sink.Published(o.Now(), "127.0.0.1:4444", "127.0.0.1:1935")
	sink.Params(stream.Params{Kind: stream.Video, Codec: "h264", Width: 320, Height: 180, FPS: 25})
	tick := time.NewTicker(40 * time.Millisecond)
	defer tick.Stop()
	for at, i := int64(0), 0; ; i++ {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		if !f.frozen.Load() {
			at += int64(40 * time.Millisecond)
			sink.Frame(stream.Frame{Kind: stream.Video, Key: i%50 == 0, Arrival: o.Now(), DTS: at, PTS: at, Size: 1000})
		}
	}
}

// watched starts to read the film, and returns the recorder's probe of it.
func (f *film) watched(ctx context.Context) (p *probe.Probe, end func(), err error) {
	entries, _, err := streams.Entries([]string{"rtmp://127.0.0.1/live/cam name=cam"}, "")
	if err != nil {
		return nil, nil, err
	}
	w := watch.New(watch.Options{Open: func(*url.URL) (stream.Open, error) { return f.read, nil }, Anchor: probe.NewAnchor(), Note: func(string) {}})
	w.Set("--stream", entries)
	var running sync.WaitGroup
	running.Go(func() { w.Run(ctx) })
	return streams.Kept(w, entries), running.Wait, nil
}

// ofCam is what the last minute of a ring has of the film: its figures, and its freezes.
func ofCam(dir string) (points []recording.Point, freezes []recording.Event, err error) {
	now := recording.Time(time.Now().UnixNano())
	r, err := Ring{dir}.Read(now.Add(-time.Minute), now)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range r.Select("snag_stream_gap_seconds", "stream", "cam") {
		points = append(points, s.Points...)
	}
	for _, e := range r.Events {
		if e.Kind == recording.EventStreamFreeze && e.Subject.Name == "cam" {
			freezes = append(freezes, e)
		}
	}
	return points, freezes, nil
}

// The clock is set while a stream is frozen: its connection stays, the new session has the stream and its
// freeze, and the ring has the freeze once, with its end.
func TestTheClockIsSetWhileAStreamIsRead(t *testing.T) {
	t.Parallel()
	asRoot(t)
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	var f film
	kept, end, err := f.watched(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var n notes
	var step, stepped atomic.Bool
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, Plan{
			Dir: dir, Limits: Limits{Keep: time.Hour, Size: 1 << 30}, Note: n.note, Streams: kept, piece: 3 * time.Second, again: time.Second,
			clock: func(recording.Anchor) moved {
				if step.Load() && stepped.CompareAndSwap(false, true) {
					return moved{set: time.Hour}
				}
				return moved{}
			},
		})
	}()
	of := func() (int, []recording.Event) {
		points, freezes, err := ofCam(dir)
		if err != nil {
			return 0, nil
		}
		return len(points), freezes
	}
	until(t, "the stream is in the ring", time.Minute, func() bool { n, _ := of(); return n > 3 })
	f.frozen.Store(true)
	until(t, "its freeze is", time.Minute, func() bool { _, all := of(); return len(all) > 0 })
	before := time.Now()
	step.Store(true)
	until(t, "it begins again", time.Minute, func() bool { return n.has("recording continues with the new time") })
	time.Sleep(5 * time.Second)
	f.frozen.Store(false)
	thawed := recording.Time(time.Now().UnixNano())
	until(t, "the freeze is over", time.Minute, func() bool {
		points, all, err := ofCam(dir)
		return err == nil && len(all) > 0 && all[len(all)-1].End != 0 && len(points) > 0 && points[len(points)-1].T.Wall().After(before.Add(7*time.Second))
	})
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	end()
	_, all, err := ofCam(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 1 || all[0].T.Wall().After(before) || all[0].End.Sub(thawed).Abs() > 2*time.Second {
		t.Errorf("the freezes are %+v, want one from before %s to about %s", all, before, thawed.Wall())
	}
	if f.opened.Load() != 1 {
		t.Errorf("it was connected %d times", f.opened.Load())
	}
}

// ofAFrozenFilm records a stream that stands still after four seconds.
func ofAFrozenFilm(dir string) error {
	var f film
	kept, _, err := f.watched(context.Background())
	if err != nil {
		return err
	}
	time.AfterFunc(4*time.Second, func() { f.frozen.Store(true) })
	return Run(context.Background(), Plan{Dir: dir, Limits: Limits{Keep: time.Hour, Size: 1 << 30}, Note: func(text string) { fmt.Fprintln(os.Stderr, text) }, Streams: kept})
}

// kill -9 while a stream is frozen: its figures and the freeze are in the ring, and the freeze ends with what
// was recorded. The next recorder, which knows nothing of it, goes on.
func TestKilledWhileAStreamIsRead(t *testing.T) {
	t.Parallel()
	asRoot(t)
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"=frozen-film", dirEnv+"="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	until(t, "the freeze is in the ring", time.Minute, func() bool {
		points, all, err := ofCam(dir)
		return err == nil && len(all) == 1 && len(points) > 3
	})
	time.Sleep(2 * time.Second)
	killed := time.Now()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()              // it was killed
	time.Sleep(6 * time.Second) // it is not part of the freeze
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, Plan{Dir: dir, Limits: Limits{Keep: time.Hour, Size: 1 << 30}, Note: func(string) {}, piece: 6 * time.Second, again: time.Second})
	}()
	until(t, "the next recorder has a piece", time.Minute, func() bool {
		all, err := Ring{dir}.Pieces()
		return err == nil && len(all) >= 3 && !all[1].Open
	})
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	all, err := Ring{dir}.Pieces()
	if err != nil || all[0].Open {
		t.Fatalf("%v, %v", all, err)
	}
	points, freezes, err := ofCam(dir)
	if err != nil || len(points) < 3 || len(freezes) != 1 {
		t.Fatalf("%d points, freezes %+v, %v", len(points), freezes, err)
	}
	if lost := killed.Sub(points[len(points)-1].T.Wall()); lost > 4*time.Second { // a point tells of a second that is over, and it is late on a busy machine
		t.Errorf("%s of its figures are lost", lost)
	}
	if end := freezes[0].End; end == 0 || end >= all[0].End.Add(time.Millisecond) || // the name of a piece has milliseconds
		killed.Sub(end.Wall()).Abs() > 4*time.Second {
		t.Errorf("the freeze ends at %v; the piece ends at %v, and it was killed at %s", end, all[0].End, killed)
	}
}
