package perf

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"snag/readers/reader"
	"snag/recording"
)

// The file format of speedscope (src/lib/file-format-spec.ts) is one JSON object: the
// frames are shared by its profiles, and stand before or behind them.

// Bounds of one file.
const (
	mostSpeedscopeFrames   = 1 << 20
	mostSpeedscopeProfiles = 1 << 16
	mostSpeedscopeHeld     = 1 << 22 // samples of one profile, whose weights come behind them all
)

// speedscope is what a file tells beside its samples.
type speedscope struct {
	*tally
	at             int64
	exporter, name string
	ids            []int32 // of the frames
	profiles       []speedscopeProfile
	// own: snag wrote it. Its first profile is of all, in which each stack begins with its
	// process: the others say the same again.
	own     bool
	skipped uint64 // samples that can't be counted
	open    []int32
	stack   []int32
}

type speedscopeProfile struct{ kind, name, unit string }

// held is a sample that waits for its weight.
type held struct {
	stack int32 // its number, 0: none; -1: it can't be counted
	owner int32 // the frame that tells the process, in snag's own
}

func sniffSpeedscope(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n\ufeff")
	return len(head) > 0 && head[0] == '{' && bytes.Contains(head, []byte("speedscope.app/file-format-schema"))
}

func readSpeedscopeInto(ctx context.Context, in *reader.Input, o reader.Options, out recording.Sink) (reader.Told, error) {
	file, err := newTwice(in)
	if err != nil {
		return reader.Told{}, err
	}
	f := &speedscope{tally: newTally(out), at: o.Modified.UnixNano()}
	f.pinned = true
	if err := f.names(file.first()); err != nil {
		if torn := file.torn(); torn != nil {
			return reader.Told{}, torn
		}
		return reader.Told{}, fmt.Errorf("read %s: it is not whole JSON of speedscope's: %w", in.Path, err)
	}
	if f.exporter == "snag" && f.name == "snag offcpu" {
		return reader.Told{}, fmt.Errorf("read %s: it is of time off the CPU, and does not say who waited how often: offcpu.pb.gz beside it does", in.Path)
	}
	err = file.again(ctx, f.samplesOf)
	f.end()
	told := f.told("speedscope's profiles", placed{why: "the file does not say when it was: its last change is taken"})
	if f.skipped > 0 {
		partial(&told.Coverage[0], "%d of its samples name frames that it has not, or have no weight, or are more than are kept", f.skipped)
	}
	if err != nil {
		return told, fmt.Errorf("read %s: %w", in.Path, err)
	}
	return told, nil
}

// text skips the mark that some editors put before a text.
func text(r io.Reader) *jsonScan {
	s := newJSONScan(r)
	if mark, _ := s.in.Peek(3); string(mark) == "\ufeff" {
		_, _ = s.in.Discard(3)
		s.at = 3
	}
	return s
}

// names reads all but the samples.
func (f *speedscope) names(r io.Reader) error {
	s := text(r)
	s.object(func(key string) {
		switch key {
		case "exporter":
			f.exporter = s.string()
		case "name":
			f.name = s.string()
		case "shared":
			s.object(func(key string) {
				if key != "frames" {
					s.skip()
					return
				}
				s.array(func() { f.frame(s) })
			})
		case "profiles":
			s.array(func() {
				var p speedscopeProfile
				s.object(func(key string) {
					switch key {
					case "type":
						p.kind = s.string()
					case "name":
						p.name = s.string()
					case "unit":
						p.unit = s.string()
					default:
						s.skip()
					}
				})
				if len(f.profiles) < mostSpeedscopeProfiles {
					f.profiles = append(f.profiles, p)
				}
			})
		default:
			s.skip()
		}
	})
	s.end()
	f.own = f.exporter == "snag" && len(f.profiles) > 0 && f.profiles[0].name == "all"
	return s.err
}

// frame reads one of the shared frames.
func (f *speedscope) frame(s *jsonScan) {
	var name, file string
	s.object(func(key string) {
		switch key {
		case "name":
			name = s.string()
		case "file":
			file = s.string()
		default:
			s.skip()
		}
	})
	if s.err != nil || len(f.ids) >= mostSpeedscopeFrames {
		return
	}
	one := makeFrame(name, strings.TrimSuffix(file, "kernel"), file == "kernel")
	one.named = one.named && !strings.Contains(name, "+0x") && !strings.HasPrefix(name, "[")
	f.ids = append(f.ids, f.id(one))
}

// samplesOf counts the samples of the profiles, once the frames are known.
func (f *speedscope) samplesOf(r io.Reader) (unknown error) {
	s := text(r)
	s.object(func(key string) {
		if key != "profiles" {
			s.skip()
			return
		}
		n := 0
		s.array(func() {
			switch n++; {
			case n > len(f.profiles) || f.own && n > 1:
				s.skip()
			case f.profiles[n-1].kind != "sampled" && f.profiles[n-1].kind != "evented":
				unknown = fmt.Errorf("profile %d in it is of a type that snag does not know: %.20q", n, f.profiles[n-1].kind)
				s.skip()
			default:
				f.profile(s, &f.profiles[n-1])
			}
		})
	})
	if s.err != nil {
		return s.err
	}
	return unknown
}

// profile counts the samples of one.
func (f *speedscope) profile(s *jsonScan, p *speedscopeProfile) {
	comm := f.comm([]byte(p.name))
	var samples []held
	var weights []float64
	s.object(func(key string) {
		switch {
		case key == "samples" && p.kind == "sampled":
			n := 0
			s.array(func() {
				h := f.held(s)
				switch n++; {
				case n <= len(weights):
					f.weigh(p, comm, h, weights[n-1])
				case len(samples) < mostSpeedscopeHeld && weights == nil:
					samples = append(samples, h)
				default:
					f.skipped++
				}
			})
		case key == "weights" && p.kind == "sampled":
			n := 0
			s.array(func() {
				w, ok := s.number()
				if !ok {
					w = math.NaN()
				}
				switch n++; {
				case n <= len(samples):
					f.weigh(p, comm, samples[n-1], w)
				case samples == nil && len(weights) < mostSpeedscopeHeld:
					weights = append(weights, w)
				}
			})
			if n < len(samples) {
				f.skipped += uint64(len(samples) - n)
			}
		case key == "events" && p.kind == "evented":
			f.opened(s, func(h held, w float64) { f.weigh(p, comm, h, w) })
		default:
			s.skip()
		}
	})
}

// held reads the frames of a sample, outermost first.
func (f *speedscope) held(s *jsonScan) (h held) {
	f.open = f.open[:0]
	known := true
	s.array(func() {
		i := s.index()
		known = known && i >= 0 && i < len(f.ids)
		if known && len(f.open) <= 2*mostDepth {
			f.open = append(f.open, int32(i))
		}
	})
	if !known {
		return held{stack: -1}
	}
	return f.of(f.open)
}

// of is a sample with these frames, outermost first.
func (f *speedscope) of(frames []int32) (h held) {
	if f.own && len(frames) > 0 {
		h.owner, frames = frames[0], frames[1:]
	}
	f.stack = f.stack[:0]
	for _, i := range slices.Backward(frames) {
		f.stack = append(f.stack, f.ids[i])
	}
	if st := f.stackOf(f.stack); st != nil {
		h.stack = int32(st.id)
	}
	return h
}

// weigh counts a sample.
func (f *speedscope) weigh(p *speedscopeProfile, comm commID, h held, weight float64) {
	if h.stack < 0 || weight <= 0 || math.IsNaN(weight) || weight > 1e18 {
		f.skipped++
		return
	}
	one := sample{comm: comm, at: f.at, n: 1}
	if f.own {
		one.comm, one.pid, one.tid = (&folding{tally: f.tally}).owner([]byte(f.frames[f.ids[h.owner]].function))
	}
	f.tally.weigh(&one, p.unit, weight)
	var st *stack
	if h.stack > 0 {
		st = f.order[h.stack-1]
	}
	f.count(&one, st)
}

// opened goes through frames that open and close.
func (f *speedscope) opened(s *jsonScan, count func(held, float64)) {
	var open []int32
	last := math.NaN()
	s.array(func() {
		kind, at, frame := "", math.NaN(), -1
		s.object(func(key string) {
			switch key {
			case "type":
				kind = s.string()
			case "at":
				at, _ = s.number()
			case "frame":
				frame = s.index()
			default:
				s.skip()
			}
		})
		if at > last && len(open) > 0 {
			count(f.of(open), at-last)
		}
		last = at
		switch n := len(open); {
		case frame < 0 || frame >= len(f.ids):
			f.skipped++
		case kind == "O" && n < mostDepth:
			open = append(open, int32(frame))
		case kind == "C" && n > 0 && open[n-1] == int32(frame):
			open = open[:n-1]
		default:
			f.skipped++
		}
	})
}

// weigh puts a weight of that unit on a sample.
func (t *tally) weigh(s *sample, unit string, weight float64) {
	if ns := timeUnit(unit); ns > 0 {
		s.event, s.weight = t.eventOf([]byte("cpu-clock")), weight*ns
		// Times without a number of samples: one each 10 ms is what profilers take, and
		// what an interval may count on.
		s.n = uint64(max(s.weight/1e7, 1))
		return
	}
	if unit == "bytes" {
		s.event, s.weight = t.eventOf([]byte("bytes")), weight
		return
	}
	s.event = t.eventOf([]byte(foldedEvent))
	s.n = uint64(max(weight, 1))
}
