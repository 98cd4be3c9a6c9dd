package perf

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"snag/readers/reader"
	"snag/recording"
)

// The file format of speedscope (src/lib/file-format-spec.ts).
type (
	speedscope struct {
		Shared struct {
			Frames []speedscopeFrame `json:"frames"`
		} `json:"shared"`
		Profiles []speedscopeProfile `json:"profiles"`
		Exporter string              `json:"exporter"`
		Name     string              `json:"name"`
	}
	speedscopeFrame struct {
		Name string `json:"name"`
		File string `json:"file"`
	}
	speedscopeProfile struct {
		Type    string            `json:"type"` // sampled or evented
		Name    string            `json:"name"`
		Unit    string            `json:"unit"`
		Samples [][]int           `json:"samples"` // outermost first
		Weights []float64         `json:"weights"`
		Events  []speedscopeEvent `json:"events"`
	}
	speedscopeEvent struct {
		Type  string  `json:"type"` // O: opened, C: closed
		At    float64 `json:"at"`
		Frame int     `json:"frame"`
	}
)

func sniffSpeedscope(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n\ufeff")
	return len(head) > 0 && head[0] == '{' && bytes.Contains(head, []byte("speedscope.app/file-format-schema"))
}

func readSpeedscopeInto(_ context.Context, in *reader.Input, o reader.Options, out recording.Sink) (reader.Told, error) {
	b, err := whole(in)
	if err != nil {
		return reader.Told{}, err
	}
	var f speedscope
	if err := json.Unmarshal(b, &f); err != nil {
		return reader.Told{}, fmt.Errorf("read %s: it is no whole JSON of speedscope's: %w", in.Path, err)
	}
	if f.Exporter == "snag" && f.Name == "snag offcpu" {
		return reader.Told{}, fmt.Errorf("read %s: it is of time off the CPU, and does not tell who waited how often: offcpu.pb.gz beside it does", in.Path)
	}
	t := newTally(out)
	skipped, err := t.speedscope(&f, o.Modified.UnixNano())
	t.end()
	told := t.told("speedscope's profiles", placed{why: "the file does not tell when it was: its last change is taken"})
	if skipped > 0 {
		partial(&told.Coverage[0], "%d of its samples name frames that it has not, or have no weight", skipped)
	}
	if err != nil {
		return told, fmt.Errorf("read %s: %w", in.Path, err)
	}
	return told, nil
}

// speedscope counts the samples of its profiles. snag's own files begin with a
// profile of all, in which each stack begins with its process: the others say the
// same again.
func (t *tally) speedscope(f *speedscope, at int64) (skipped uint64, err error) {
	ids := make([]int32, len(f.Shared.Frames))
	for i, fr := range f.Shared.Frames {
		one := makeFrame(fr.Name, strings.TrimSuffix(fr.File, "kernel"), fr.File == "kernel")
		one.named = one.named && !strings.Contains(fr.Name, "+0x") && !strings.HasPrefix(fr.Name, "[")
		ids[i] = t.id(one)
	}
	profiles := f.Profiles
	own := f.Exporter == "snag" && len(profiles) > 0 && profiles[0].Name == "all"
	if own {
		profiles = profiles[:1]
	}
	for i := range profiles {
		p := &profiles[i]
		comm := t.comm([]byte(p.Name[:min(len(p.Name), 64)]))
		count := func(frames []int, weight float64) {
			s := sample{comm: comm, at: at, n: 1}
			if own && len(frames) > 0 && frames[0] >= 0 && frames[0] < len(ids) {
				s.comm, s.pid, s.tid = (&folding{tally: t}).owner([]byte(f.Shared.Frames[frames[0]].Name))
				frames = frames[1:]
			}
			stack := make([]int32, 0, len(frames))
			for k := len(frames) - 1; k >= 0; k-- {
				if frames[k] < 0 || frames[k] >= len(ids) {
					skipped++
					return
				}
				stack = append(stack, ids[frames[k]])
			}
			if weight == 0 || math.IsNaN(weight) || weight < 0 || weight > 1e18 {
				skipped++
				return
			}
			t.weigh(&s, p.Unit, weight)
			t.add(s, stack)
		}
		switch p.Type {
		case "sampled":
			for k, frames := range p.Samples {
				if k < len(p.Weights) {
					count(frames, p.Weights[k])
				} else {
					skipped++
				}
			}
		case "evented":
			skipped += p.opened(count)
		default:
			err = fmt.Errorf("profile %d in it is of a type that snag does not know: %.20q", i+1, p.Type)
		}
	}
	return skipped, err
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

// opened goes through frames that open and close.
func (p *speedscopeProfile) opened(count func([]int, float64)) (skipped uint64) {
	var open []int
	last := math.NaN()
	for _, e := range p.Events {
		if e.At > last && len(open) > 0 {
			count(open, e.At-last)
		}
		last = e.At
		switch {
		case e.Type == "O" && len(open) < mostDepth:
			open = append(open, e.Frame)
		case e.Type == "C" && len(open) > 0 && open[len(open)-1] == e.Frame:
			open = open[:len(open)-1]
		default:
			skipped++
		}
	}
	return skipped
}
