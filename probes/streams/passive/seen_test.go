package passive

import (
	"bufio"
	"strconv"
	"strings"
	"testing"

	"snag/probes/streams/stream"
)

// streams collects what newSink is asked for.
type streams struct{ all []*seen }

func (s *streams) begin(c Conn) stream.Sink {
	x := &seen{Conn: c, params: map[stream.Kind]stream.Params{}}
	s.all = append(s.all, x)
	return x
}

type seen struct {
	Conn
	published int64
	frames    []stream.Frame
	params    map[stream.Kind]stream.Params
	lost      uint64
	end       string
}

func (s *seen) Published(at int64, _, _ string) { s.published = at }
func (s *seen) Frame(f stream.Frame)            { s.frames = append(s.frames, f) }
func (s *seen) Params(p stream.Params)          { s.params[p.Kind] = p }
func (s *seen) Gauge(stream.Gauge, float64)     {}
func (s *seen) Renamed(c Conn)                  { s.Conn = c }
func (s *seen) End(_ int64, err error)          { s.end = err.Error() }
func (s *seen) Count(c stream.Count, n uint64) {
	if c == stream.CaptureLost {
		s.lost += n
	}
}

func only(all []stream.Frame, k stream.Kind) (out []stream.Frame) {
	for _, f := range all {
		if f.Kind == k {
			out = append(out, f)
		}
	}
	return out
}

// run is how many frames of want are in got in a row, of the same size, key, DTS
// and PTS.
func run(want, got []stream.Frame) (n int) {
	for i := range got {
		for j := range want {
			k := 0
			for i+k < len(got) && j+k < len(want) && equal(want[j+k], got[i+k]) {
				k++
			}
			n = max(n, k)
		}
	}
	return n
}

// equal leaves out a mark that one of them has not: ffprobe prints none.
func equal(a, b stream.Frame) bool {
	a.Arrival, b.Arrival = 0, 0
	if a.Mark == 0 || b.Mark == 0 {
		a.Mark, b.Mark = 0, 0
	}
	return a == b
}

// probed reads what "ffprobe -show_packets -of compact" printed of an RTMP stream,
// whose time base is the millisecond.
func probed(t *testing.T, text string) (out []stream.Frame) {
	t.Helper()
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		kind, rest, _ := strings.Cut(lines.Text(), "|")
		if kind != "packet" {
			continue
		}
		var f stream.Frame
		for _, field := range strings.Split(rest, "|") {
			k, v, _ := strings.Cut(field, "=")
			ms, err := strconv.ParseInt(v, 10, 64)
			switch k {
			case "codec_type":
				f.Kind, err = stream.Data, nil
				switch v {
				case "video":
					f.Kind = stream.Video
				case "audio":
					f.Kind = stream.Audio
				}
			case "dts":
				f.DTS = ms * 1e6
			case "pts":
				f.PTS = ms * 1e6
			case "size":
				f.Size = int(ms)
			case "flags":
				f.Key, err = strings.Contains(v, "K"), nil
			default:
				err = nil
			}
			if err != nil {
				t.Fatalf("ffprobe printed %q", lines.Text())
			}
		}
		out = append(out, f)
	}
	return out
}
