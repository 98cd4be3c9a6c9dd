package scene

import (
	"fmt"
	"math"
	"sort"
	"time"

	"snag/recording"
)

// A stream's bytes come in the same seconds on the connection that brings it to the
// server and on the one that takes it on: key frames, scenes, its bit rate. What is
// left between two such rows of seconds, as a share of the stream, was 0.02 to 0.1
// for the same stream and 0.3 and more for another of another bit rate; streams of
// one constant rate are not told apart.
const (
	likeMost  = 0.35
	likeApart = 0.15
	likeFew   = 4 // seconds that must be there to compare
)

// likeIt is the socket whose received bytes follow the stream's, and how well; nil
// where none does, or two do.
func likeIt(r *recording.Recording, st *Stream, all []*Socket) (*Socket, string) {
	stream := streamBytes(r, st.Row)
	if len(stream) < likeFew {
		return nil, ""
	}
	type fit struct {
		k    *Socket
		left float64
	}
	var fits []fit
	for _, k := range all {
		points, left := received(k), math.Inf(1)
		for _, shift := range []time.Duration{0, 500 * time.Millisecond, time.Second} { // what the server held
			left = min(left, apart(stream, points, shift))
		}
		fits = append(fits, fit{k, left})
	}
	sort.SliceStable(fits, func(i, j int) bool { return fits[i].left < fits[j].left })
	if fits[0].left > likeMost || fits[1].left < fits[0].left+likeApart {
		return nil, ""
	}
	return fits[0].k, fmt.Sprintf("of %d connections its bytes come in the stream's rhythm (%.0f %% differ; of the next %.0f %%)", len(all), 100*fits[0].left, 100*min(fits[1].left, 9.99))
}

// received is the running total of what a socket received.
func received(k *Socket) (points []recording.Point) {
	for _, row := range k.Rows {
		if row.TCP != nil {
			points = append(points, recording.Point{T: row.T, V: float64(row.TCP.BytesReceived)})
		}
	}
	return points
}

// streamBytes is the running total of a stream's bytes, all kinds of frames.
func streamBytes(r *recording.Recording, row recording.Stream) []recording.Point {
	at := map[recording.Time]float64{}
	n := map[recording.Time]int{}
	kinds := 0
	for _, s := range r.Select("snag_stream_bytes_total", "stream", row.Name) {
		if s.Labels["layer"] != row.Layer || s.Labels["side"] != "" && s.Labels["side"] != row.Side {
			continue
		}
		kinds++
		for _, p := range s.Points {
			at[p.T] += p.V
			n[p.T]++
		}
	}
	var out []recording.Point
	for t, v := range at {
		if n[t] == kinds {
			out = append(out, recording.Point{T: t, V: v})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].T < out[j].T })
	return out
}

// apart is by how much the growth of two running totals differs, second by second,
// as a share of the first's growth; the second is read shift earlier.
func apart(a, b []recording.Point, shift time.Duration) float64 {
	if len(b) < 2 {
		return math.Inf(1)
	}
	diff, sum, n := 0.0, 0.0, 0
	for i := 1; i < len(a); i++ {
		from, to := a[i-1].T.Add(-shift), a[i].T.Add(-shift)
		if from < b[0].T || to > b[len(b)-1].T {
			continue
		}
		grown := a[i].V - a[i-1].V
		diff += math.Abs(grown - (totalAt(b, to) - totalAt(b, from)))
		sum += grown
		n++
	}
	if n < likeFew || sum <= 0 {
		return math.Inf(1)
	}
	return diff / sum
}

// totalAt is a running total at t, by the straight line between its points.
func totalAt(all []recording.Point, t recording.Time) float64 {
	i := sort.Search(len(all), func(i int) bool { return all[i].T >= t })
	switch {
	case i == 0:
		return all[0].V
	case i == len(all):
		return all[i-1].V
	}
	a, b := all[i-1], all[i]
	return a.V + (b.V-a.V)*float64(t-a.T)/float64(b.T-a.T)
}
