package publishersendsless

import (
	"testing"
	"time"

	"snag/lab"
	"snag/lab/broadcast"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// As many frames are sent to the end, of an eighth of the bytes or less.
func TestTruth(t *testing.T) {
	labtest.Each(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		b, encoder := broadcast.Of(s, false), s.ProcessOf("encoder-film")
		rates := func(d time.Duration) (bytes, frames float64) {
			const count = `frame=([0-9]+)`
			from, begun := labtest.LastNumber(t, encoder.Printed(), count), time.Now()
			before, err := b.Look()
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(d)
			after, err := b.Look()
			if err != nil {
				t.Fatal(err)
			}
			seconds := time.Since(begun).Seconds()
			return float64(after.Came-before.Came) / seconds, (labtest.LastNumber(t, encoder.Printed(), count) - from) / seconds
		}
		bytes, frames := rates(4 * time.Second)
		time.Sleep(broadcast.FilmTurns - 4*time.Second)
		then, framesThen := rates(4 * time.Second)
		t.Logf("%s: %.0f B/s of %.1f frames, then %.0f of %.1f", v, bytes, frames, then, framesThen)
		if framesThen < 0.8*frames || framesThen > 1.25*frames {
			t.Errorf("%.1f frames came a second, and %.1f before", framesThen, frames)
		}
		if share := then / bytes; v == lab.Sick && share > 1.0/8 || v != lab.Sick && share < 0.2 {
			t.Errorf("%.2f of the bytes came", share)
		}
	})
}
