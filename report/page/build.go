package page

import (
	"path/filepath"
	"sort"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/report"
	"snag/report/page/streams"
	"snag/scene"
	"snag/verdict"
)

// builder gathers the data of one page.
type builder struct {
	v      *verdict.Verdict
	r      *recording.Recording
	s      *scene.Scene
	start  recording.Time // of the whole recording
	limits Limits
	frames *streams.Frames // nil: none were given
	marks  map[scene.NodeID][]Mark
	left   []string
}

// New makes the data of a verdict's page within limits.
func New(v *verdict.Verdict, l Limits) Data { return newWith(v, nil, l) }

func newWith(v *verdict.Verdict, frames *streams.Frames, l Limits) Data {
	b := &builder{v: v, r: v.Recording, s: v.Scene, start: v.Recording.Manifest.Start, limits: l, frames: frames}
	d := Data{Version: DataVersion, Verdict: b.document()}
	if views := v.Views(); len(views) > 0 {
		b.hosts(&d, views)
		return d
	}
	b.draw(&d)
	d.LeftOut = append([]string{}, b.left...)
	return d
}

// draw makes all but the verdict.
func (b *builder) draw(d *Data) {
	b.marks = b.findMarks()
	d.Scene = b.scene()
	d.Streams = b.streams()
	d.Events = b.events()
	d.Charts = b.charts()
	d.Flames = b.flames()
	d.Tables = b.tables()
}

// document is the verdict, bounded; the same recording gives the same bytes
// wherever it lies, so that of its folder only the name is kept.
func (b *builder) document() report.Document {
	d := report.NewDocument(b.v)
	if d.Recording != "" {
		d.Recording = filepath.Base(d.Recording)
	}
	if n := len(d.Verdict) - b.limits.Entries; n > 0 {
		d.Verdict = worst(d.Verdict, b.limits.Entries)
		b.leaveOut("%s findings (snag judge -v lists them)", units.Count(float64(n)))
	}
	cut := 0
	for i := range d.Verdict {
		if n := len(d.Verdict[i].Active) - b.limits.Intervals; n > 0 {
			d.Verdict[i].Active, cut = d.Verdict[i].Active[:b.limits.Intervals], cut+n
		}
	}
	for i := range d.Symptoms {
		if n := len(d.Symptoms[i].Active) - b.limits.Intervals; n > 0 {
			d.Symptoms[i].Active, cut = d.Symptoms[i].Active[:b.limits.Intervals], cut+n
		}
	}
	if cut > 0 {
		b.leaveOut("%s intervals of findings and symptoms, the latest of each", units.Count(float64(cut)))
	}
	return d
}

// worst keeps n entries: what was found before what was cleared, in the order
// in which they stand.
func worst(all []report.Entry, n int) []report.Entry {
	rank := map[string]int{"culprit": 0, "contributing": 1, "consequence": 2, "risk": 3, "not-seen": 4, "cleared": 5}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool { return rank[all[order[i]].State] < rank[all[order[j]].State] })
	order = order[:n]
	sort.Ints(order)
	out := make([]report.Entry, 0, n)
	for _, i := range order {
		out = append(out, all[i])
	}
	return out
}

// since is a time as seconds since the window's start, to the millisecond.
func (b *builder) since(t recording.Time) float64 {
	return float64(t.Sub(b.start).Round(time.Millisecond)) / 1e9
}
