package figures

import (
	"errors"
	"testing"

	"snag/probes/streams/stream"
	"snag/recording"
)

// A stream that comes back tells whether its timestamps go on or begin anew; of RTP each connection
// has its own.
func TestRestarted(t *testing.T) {
	for name, c := range map[string]struct {
		o    Options
		dts  int64 // of the first frame of the second connection
		told int
	}{
		"a new publisher":                   {Options{}, 0, 1},
		"a new publisher, seen a bit later": {Options{}, 4 * second, 1},
		"it went on":                        {Options{}, 25 * second, 0},
		"it goes back a little":             {Options{}, 19*second + second/2, 0},
		"to another place":                  {Options{}, 12 * second, 0},
		"of RTP":                            {Options{OwnClock: true}, 0, 0},
		"of segments":                       {Options{Bursty: true}, 0, 1},
	} {
		tr := steady(25, 25*20, 50, 46)
		m := tr.run(c.o).meter
		m.End(tr.until, errors.New("it was cut off"))
		m.Asked(tr.until + second)
		m.Published(tr.until+second, "", "")
		for i := range int64(10) {
			m.Frame(stream.Frame{Key: i == 0, Arrival: tr.until + 2*second + i*40*ms, DTS: c.dts + i*40*ms, Size: 10})
		}
		told := result{events: m.Events(nil)}.of(recording.EventStreamRestarted)
		if len(told) != c.told {
			t.Errorf("%s: told %+v", name, told)
		}
	}
}
