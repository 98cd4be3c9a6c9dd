package encoderstallslow

import (
	"testing"
	"time"

	"snag/lab"
	"snag/lab/broadcast"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// outTime is how far ffmpeg says that it has come, microseconds of the stream.
const outTime = `out_time_us=([0-9]+)`

func TestTruth(t *testing.T) {
	labtest.Each(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		encoder := s.ProcessOf("encoder-match")
		from, begun := labtest.LastNumber(t, encoder.Printed(), outTime), time.Now()
		w, err := broadcast.Of(s, false).Observe(8 * time.Second)
		if err != nil {
			t.Fatal(err)
		}
		pace := (labtest.LastNumber(t, encoder.Printed(), outTime) - from) / float64(time.Since(begun).Microseconds())
		t.Logf("%s: %.2f s of the stream per second, %+v", v, pace, w)
		// It prints every half second: a twentieth of the time may be missing at an end.
		if v == lab.Sick && (pace < 0.7 || pace > 0.9 || w.Full > 0 || w.Server.RecvQ > 10_000) {
			t.Errorf("%.2f s of the stream per second; the encoder's queue was full in %d samples, %d bytes unread at the server", pace, w.Full, w.Server.RecvQ)
		}
		if v != lab.Sick && pace < 0.9 {
			t.Errorf("%.2f s of the stream per second", pace)
		}
	})
}
