package streams

import (
	"fmt"
	"strings"
	"testing"

	"snag/recording"
	"snag/report/page/streams/streamstest"
)

// frameLines are frames of one stream as snag watch --frames writes them: 25 per second, each
// at its time and late by what late says.
func frameLines(name string, n int, late func(i int) float64) string {
	var b strings.Builder
	for i := range n {
		dts := float64(i) / 25
		fmt.Fprintf(&b, `{"stream":%q,"arrival":%d,"dts":%.3f,"pts":%.3f,"size":1,"key":false,"media_type":"video","pkt_dts_time":"1"}`+"\n", name, streamstest.At(dts+late(i)), dts, dts)
		fmt.Fprintf(&b, `{"stream":%q,"arrival":%d,"dts":%.3f,"media_type":"audio"}`+"\n", name, streamstest.At(dts), dts-100)
	}
	return b.String()
}

func readAll(t *testing.T, text string, seconds float64) *Frames {
	t.Helper()
	f, err := ReadFrames(strings.NewReader(text), "frames.jsonl", recording.Interval{Start: streamstest.Start, End: streamstest.At(seconds)}, map[string]bool{"live/cam1": true})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestEachFrameIsDrawn(t *testing.T) {
	text := frameLines("live/cam1", 1000, func(i int) float64 {
		if i == 500 {
			return 0.04
		}
		return 0.01
	}) + frameLines("live/other", 10, func(int) float64 { return 0 }) + `{"stream":"live/cam1","arriv`
	c := readAll(t, text, 60).course("live/cam1", streamstest.Start)
	if len(c.T) != 1000 || c.Most != nil || c.Late[500] != 0.03 || c.Late[499] != 0 || c.T[25] != 1.01 {
		t.Errorf("%d frames, late %v and %v, at %v", len(c.T), c.Late[499], c.Late[500], c.T[25])
	}
	if c := readAll(t, text, 60).course("live/other", streamstest.Start); c != nil {
		t.Errorf("frames of a stream that was not asked for: %d", len(c.T))
	}
}

// What is sent at once after a freeze comes within a millisecond: a chart has one value for a
// time, and the frame that came latest is not lost.
func TestFramesOfOneMomentAreOneTime(t *testing.T) {
	c := readAll(t, frameLines("live/cam1", 100, func(i int) float64 {
		if i > 20 && i <= 60 {
			return float64(60-i) / 25 // all at the time of the 60th
		}
		return 0
	}), 60).course("live/cam1", streamstest.Start)
	last := -1.0
	for i, at := range c.T {
		if at <= last {
			t.Fatalf("%v after %v", at, last)
		}
		if last = at; at == 2.4 && (c.Late[i] != 0 || c.Most[i] != 1.56) {
			t.Errorf("at %v from %v to %v s late", at, c.Late[i], c.Most[i])
		}
	}
	if len(c.T) != 61 || len(c.Most) != 61 {
		t.Errorf("%d times, %d of the most", len(c.T), len(c.Most))
	}
}

// However many frames there are, one that came late is there.
func TestManyFramesAreSteps(t *testing.T) {
	const n = 50_000
	c := readAll(t, frameLines("live/cam1", n, func(i int) float64 {
		if i == 30_000 {
			return 0.04
		}
		return 0.01
	}), n/25).course("live/cam1", streamstest.Start)
	if len(c.T) > mostFrames || len(c.T) != len(c.Most) {
		t.Fatalf("%d times, %d values", len(c.T), len(c.Most))
	}
	late := 0
	for i, v := range c.Most {
		if v > 0.02 {
			if late++; v != 0.03 || c.T[i] < 1199 || c.T[i] > 1202 {
				t.Errorf("%v s late at %v s", v, c.T[i])
			}
		}
	}
	if late != 1 {
		t.Errorf("%d steps have a late frame", late)
	}
}

// What a drift is measured against is the least of the last minute, and begins anew where the
// timestamps do.
func TestTheLeastIsOfAMinute(t *testing.T) {
	c := readAll(t, frameLines("live/cam1", 25*100, func(i int) float64 {
		if i < 10 {
			return 0
		}
		return 0.5
	}), 200).course("live/cam1", streamstest.Start)
	if a, b := c.Late[25*30], c.Late[25*90]; a != 0.5 || b != 0 {
		t.Errorf("%v s late after half a minute, %v after a minute and a half", a, b)
	}
	// Seconds of which nothing came keep no older least.
	text := ""
	frame := func(arrival, dts float64) {
		text += fmt.Sprintf(`{"stream":"live/cam1","arrival":%d,"dts":%.3f,"media_type":"video"}`+"\n", streamstest.At(arrival), dts)
	}
	frame(0.1, 0.1)
	for _, at := range []float64{40, 58, 62.5} {
		frame(at, at-0.5)
	}
	c = readAll(t, text, 100).course("live/cam1", streamstest.Start)
	if c.Late[2] != 0.5 || c.Late[3] != 0 {
		t.Errorf("after gaps: %v", c.Late)
	}
	// The timestamps begin anew.
	for _, first := range []float64{-1000, 1e6} {
		text = frameLines("live/cam1", 100, func(int) float64 { return 0 })
		for i := range 100 {
			frame(4+float64(i)/25, first+float64(i)/25)
		}
		for i, v := range readAll(t, text, 60).course("live/cam1", streamstest.Start).Late {
			if v > 0.001 {
				t.Fatalf("frame %d is %v s late after a jump to %v", i, v, first)
			}
		}
	}
}

func TestAFileThatHasNoFramesIsOneError(t *testing.T) {
	for _, text := range []string{"hello\n", "{}\n", "[1]\n", strings.Repeat("x", 2*longestLine), `{"stream":"a","arrival":"x"}` + "\n"} {
		_, err := ReadFrames(strings.NewReader(text), "f.jsonl", recording.Interval{}, nil)
		if err == nil || !strings.Contains(err.Error(), "f.jsonl line 1") || !strings.Contains(err.Error(), "snag watch --frames") {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	if f := readAll(t, frameLines("live/cam1", 5, func(int) float64 { return 1e6 }), 60); !f.Empty() {
		t.Error("frames of another time are taken")
	}
}

// A frame names no place: of a stream at several, nobody knows whose it is.
func TestFramesOfSeveralPlacesAreNotDrawn(t *testing.T) {
	frames := readAll(t, frameLines("live/cam1", 100, func(int) float64 { return 0 }), 60)
	for places, want := range map[int]bool{1: true, 2: false} {
		m := streamstest.New(60)
		for p := range places {
			m.Stream(streamstest.Key{Name: "live/cam1", Layer: fmt.Sprintf("p%d", p)}, 60, streamstest.Well)
		}
		d, _ := Of(m.Recording(), streamstest.Start, nil, frames, plenty)
		if has := d.Details[0].Frames != nil; has != want {
			t.Errorf("of %d places: %t", places, has)
		}
	}
}
