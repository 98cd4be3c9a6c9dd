package livepage

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"snag/probes/streams/past"
	"snag/probes/streams/watch"
	"snag/recording"
	"snag/report/page/streams"
)

// watched makes the page's data of a watch.
type watched struct {
	w *watch.Watcher

	mu   sync.Mutex
	last liveStreams
	made time.Time
}

// liveStreams is what the page asks for again and again (ui/src/model/poll.ts).
type liveStreams struct {
	StartMS float64       `json:"start_ms"`
	Now     float64       `json:"now"`
	Begin   float64       `json:"begin"`
	Sick    int           `json:"sick"`
	Own     string        `json:"own"`
	Streams *streams.Data `json:"streams"`
}

const (
	curve     = past.Seconds * time.Second // of the table
	day       = past.Minutes * time.Minute
	mostMarks = past.Events
	// fresh is how old an answer may be that another reader of the page gets too.
	fresh = 900 * time.Millisecond
)

// streams are all streams as they stand, without courses.
func (d *watched) streams() liveStreams {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.made.IsZero() && time.Since(d.made) < fresh {
		return d.last
	}
	d.made = time.Now()
	var all []taken
	now := d.w.Remembered(func(r watch.Remembered) { all = append(all, take(r)) })
	own := d.w.Measured()
	start := own.Since
	if start == 0 {
		start = now
	}
	begin := max(start, now.Add(-day))
	in := make([]streams.Input, len(all))
	for i, t := range all {
		in[i] = t.input()
	}
	data := streams.Live(in, hopsOf(d.w.Places()), recording.Interval{Start: max(start, now.Add(-curve)), End: now}, start)
	sick := 0
	for _, r := range data.Rows {
		if r.Sick {
			sick++
		}
	}
	d.last = liveStreams{
		StartMS: float64(start) / 1e6, Now: since(now, start), Begin: since(begin, start), Sick: sick,
		Own: cost(own.Own), Streams: data,
	}
	return d.last
}

// courses are what is remembered of the streams that are asked for; of one that is not
// watched there is none.
func (d *watched) courses(ids []string) []streams.Detail {
	start := d.w.Measured().Since
	out := []streams.Detail{}
	type found struct {
		id     string
		points []past.Point
		events []recording.Event
		limit  float64
		judged *watch.Judged
	}
	var all []found
	d.w.Remembered(func(r watch.Remembered) {
		id := streams.ID(r.Name, r.Layer, r.Side)
		if !slices.Contains(ids, id) {
			return
		}
		f := found{id: id, points: r.Past.Points(), limit: r.Second.Limit, judged: r.Judged}
		for _, e := range r.Past.Events() {
			f.events = append(f.events, r.Event(e))
		}
		all = append(all, f)
	})
	for _, f := range all {
		c := courseOf(f.points)
		c.Threshold = f.limit
		out = append(out, c.Detail(f.id, f.events, verdicts(f.judged), start, mostMarks))
	}
	return out
}

// courseOf are the points as the page has them. What nobody measured from the beginning on
// is left out.
func courseOf(points []past.Point) streams.Course {
	var c streams.Course
	for _, p := range points {
		c.T = append(c.T, p.T)
		for q := range past.Quantities {
			scale := 1.0
			if q == past.Video || q == past.Audio {
				scale = 1000 // kb/s
			}
			c.Low[q], c.High[q] = append(c.Low[q], scale*p.Low[q]), append(c.High[q], scale*p.High[q])
		}
	}
	if len(points) > past.Seconds {
		c.Note = fmt.Sprintf("What is older than %d min: each point is the least and the most of a minute.", past.Seconds/60)
	}
	return c
}

func verdicts(j *watch.Judged) []streams.Verdict {
	if j == nil {
		return nil
	}
	text := j.Text
	if j.Culprit != "" {
		text = fmt.Sprintf("culprit %s: %s: %s", j.Culprit, j.Subject, j.Text)
	}
	return []streams.Verdict{{Stream: j.Stream, Since: j.Onset, Text: text}}
}

// hopsOf says in which order a stream passes its places.
func hopsOf(places map[string][]string) []recording.StreamHop {
	var out []recording.StreamHop
	for name, all := range places {
		for i := 1; i < len(all); i++ {
			out = append(out, recording.StreamHop{Name: name, From: all[i-1], To: all[i]})
		}
	}
	return out
}

func since(t, start recording.Time) float64 { return math.Round(t.Sub(start).Seconds()*100) / 100 }
