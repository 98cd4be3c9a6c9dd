package figures

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"snag/probes/streams/stream"
	"snag/recording"
)

// real reads what ffprobe -show_packets printed of a stream that ffmpeg published
// (-re, 25 fps, a key frame every 50) to nginx-rtmp on a busy machine, with the
// time at which each line came. The first packets come together: ffprobe holds
// them until it knows the streams.
func real(t *testing.T, name string) *trace {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "traces", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tr := &trace{}
	for s := bufio.NewScanner(f); s.Scan(); {
		c := strings.Split(s.Text(), ",")
		if len(c) != 6 || c[0][0] == '#' {
			continue
		}
		var v [4]float64 // arrival, pts, dts, size
		for i, col := range []int{0, 2, 3, 4} {
			if v[i], err = strconv.ParseFloat(c[col], 64); err != nil {
				t.Fatalf("%s: %q: %v", name, s.Text(), err)
			}
		}
		fr := stream.Frame{
			Arrival: start + int64(v[0]*1e9), PTS: int64(v[1]*1e3+0.5) * ms, DTS: int64(v[2]*1e3+0.5) * ms,
			Size: int(v[3]), Key: c[5][0] == 'K' && c[1] == "video",
		}
		if c[1] == "audio" {
			fr.Kind = stream.Audio
		}
		tr.add(fr)
	}
	if len(tr.frames) < 900 {
		t.Fatalf("%s has %d packets", name, len(tr.frames))
	}
	tr.until = tr.frames[len(tr.frames)-1].Arrival
	return tr
}

func TestRealHealthy(t *testing.T) {
	r := real(t, "nginx-rtmp-healthy.csv").run(Options{})
	r.quiet(t)
	s := r.seconds[len(r.seconds)-3]
	near(t, "spacing", s.Spacing.V, 0.04, 0.0005)
	near(t, "fps by DTS", s.Video.FPSDTS.V, 25, 1)
	near(t, "GOP", float64(s.GOP.Frames), 50, 0)
	near(t, "GOP seconds", s.GOP.Seconds, 2, 0.002)
	near(t, "pace", s.Pace.V, 1, 0.03)
	near(t, "skew", s.Skew.V, 0, 0.1)
	if !s.Audio.Present || s.Variable || s.Drift.V > 0.3 {
		t.Errorf("%+v", s)
	}
}

// The publisher was stopped (SIGSTOP) for five seconds: by a file's clock it then
// sends all that it missed.
func TestRealPublisherStopped(t *testing.T) {
	r := real(t, "nginx-rtmp-publisher-stopped.csv").run(Options{})
	e := r.of(recording.EventStreamFreeze)
	if len(e) != 1 || e[0].Phase != Ended {
		t.Fatalf("told %+v", r.events)
	}
	near(t, "begins", float64(e[0].Start-start)/1e9, 10, 0.1)
	near(t, "length", e[0].Value, 5, 0.15)
	near(t, "DTS step", e[0].Step.V, 0.04, 0.001)
	near(t, "burst", float64(e[0].Burst), 125, 20)
	if e[0].Pattern != Held {
		t.Errorf("told %+v", e[0])
	}
	for _, kind := range []string{recording.EventStreamSkipped, recording.EventStreamJump, recording.EventStreamSlow} {
		if e := r.of(kind); len(e) != 0 {
			t.Errorf("told %+v", e)
		}
	}
}
