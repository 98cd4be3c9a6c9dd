package passive

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"snag/probes/streams/figures"
	"snag/probes/streams/stream"
	"snag/probes/streams/wire"
	"snag/recording"
)

// slow is a sink that can be held up.
type slow struct {
	metered
	hold *atomic.Bool
}

func (s *slow) Frame(f stream.Frame) {
	for s.hold.Load() {
		time.Sleep(10 * time.Millisecond)
	}
	s.metered.Frame(f)
}

// A ring that is too small, and a reader that is held up for longer than a freeze:
// the kernel drops packets, which is said, and no stream is accused.
func TestFullRing(t *testing.T) {
	t.Parallel()
	port := serveRTMP(t)
	var hold atomic.Bool
	var all []*slow
	var stats Stats
	missed := 0
	begin := func(Conn) stream.Sink {
		s := &slow{metered{Meter: figures.New(figures.Options{Asked: wire.Monotonic()})}, &hold}
		all = append(all, s)
		return s
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, Options{
			Iface: "lo", Ports: []uint16{port}, Blocks: 2,
			Stats: func(s Stats) { stats = s },
			Tick: func(at int64) {
				for _, s := range all {
					if second, whole := s.Tick(at - int64(150*time.Millisecond)); whole && second.Missed {
						missed++
					}
					s.events = s.Events(s.events)
				}
			},
		}, begin)
	}()
	time.Sleep(100 * time.Millisecond)
	url := fmt.Sprintf("rtmp://127.0.0.1:%d/live/cam1", port)
	start(t, "ffmpeg", "-v", "quiet", "-i", url, "-c", "copy", "-f", "null", "-")
	start(t, "ffmpeg", "-v", "error", "-re", "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=25,noise=alls=20:allf=t",
		"-t", "20", "-c:v", "libx264", "-preset", "ultrafast", "-qp", "20", "-g", "25", "-f", "flv", url)
	time.Sleep(3 * time.Second)
	hold.Store(true)
	time.Sleep(1800 * time.Millisecond)
	hold.Store(false)
	time.Sleep(2500 * time.Millisecond)
	stop()
	if err := <-done; err != nil {
		noCapture(t, err)
	}
	if len(all) != 2 || stats.Capture.Dropped == 0 {
		t.Fatalf("%d streams, %+v", len(all), stats)
	}
	if missed == 0 {
		t.Error("no second is said to have been missed")
	}
	for _, s := range all {
		if s.frames < 25 {
			t.Errorf("%d frames", s.frames)
		}
		for _, e := range s.events {
			switch e.Kind {
			case recording.EventStreamPublished, recording.EventStreamFirstFrame:
			default:
				if !e.Doubt {
					t.Errorf("accused: %+v", e)
				}
			}
		}
	}
	t.Logf("%d packets of %d found no room", stats.Capture.Dropped, stats.Capture.Packets)
}
