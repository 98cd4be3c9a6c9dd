package protocol

import (
	"encoding/binary"
	"errors"
	"reflect"
	"testing"
)

// kinds are the frames in b, after the preface, with their streams.
func kinds(t *testing.T, b []byte) (out [][2]uint32) {
	t.Helper()
	f := frames{each: func(kind, _ byte, stream uint32, _ []byte) error {
		out = append(out, [2]uint32{uint32(kind), stream})
		return nil
	}}
	if err := f.read(b); err != nil {
		t.Fatal(err)
	}
	return out
}

func give(t *testing.T, c *http2Client, b ...[]byte) Got {
	t.Helper()
	var all []byte
	for _, one := range b {
		all = append(all, one...)
	}
	got, err := c.Read(all)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func status(stream uint32, index byte) []byte {
	return frame(frameHeaders, flagEndHeaders|flagEndStream, stream, []byte{index})
}

// Answers may come in any order, and each is that of its request.
func TestAnswersOfSeveralStreams(t *testing.T) {
	t.Parallel()
	c := NewHTTP2([][2]string{{":method", "GET"}}, nil).New().(*http2Client)
	for i := range int64(3) {
		c.Ask(10 + i)
	}
	// 88 is ":status 200" of the static table, and 8e is 500.
	if got := give(t, c, status(5, 0x88), status(1, 0x8e)); got != (Got{Done: 2, Failed: 1}) {
		t.Errorf("%+v", got)
	}
	if want := []Ended{{Number: 12}, {Number: 10, Failed: true}}; !reflect.DeepEqual(c.Ended(), want) {
		t.Errorf("%+v, want %+v", c.Ended(), want)
	}
	if give(t, c, frame(frameReset, 0, 3, make([]byte, 4))); !reflect.DeepEqual(c.Ended(), []Ended{{Number: 11, Failed: true}}) {
		t.Errorf("a reset: %+v", c.Ended())
	}
}

// Until the server's SETTINGS are here there is room for one request, and then for as many as they say.
func TestLimitOfStreams(t *testing.T) {
	t.Parallel()
	c := NewHTTP2(nil, nil).New().(*http2Client)
	check := func(when string, n int, said bool) {
		t.Helper()
		if gotN, gotSaid := c.Limit(); gotN != n || gotSaid != said {
			t.Errorf("%s: %d, %v", when, gotN, gotSaid)
		}
	}
	check("before SETTINGS", 1, false)
	give(t, c, frame(frameSettings, 0, 0, nil))
	check("without a limit", mostWindow, false)
	give(t, c, frame(frameSettings, 0, 0, setting(settingStreams, 7)))
	check("with one", 7, true)
	give(t, c, frame(frameSettings, 0, 0, setting(settingStreams, 0)))
	check("with none", 0, true)
}

// After GOAWAY no request begins; those after the last one that it names were not processed.
func TestGoAway(t *testing.T) {
	t.Parallel()
	c := NewHTTP2(nil, nil).New().(*http2Client)
	for i := range int64(3) {
		c.Ask(i)
	}
	bye := binary.BigEndian.AppendUint64(nil, 3<<32)
	if got := give(t, c, frame(frameGoAway, 0, 0, bye)); got != (Got{Last: true}) {
		t.Errorf("%+v", got)
	}
	if n, _ := c.Limit(); n != 0 || !reflect.DeepEqual(c.Ended(), []Ended{{Number: 2, Untaken: true}}) {
		t.Errorf("room for %d, %+v", n, c.Ended())
	}
	if got := give(t, c, status(1, 0x88), status(3, 0x88)); got != (Got{Done: 2, Last: true}) {
		t.Errorf("the last answers: %+v", got)
	}
	if _, err := c.Read(frame(framePing, 0, 0, make([]byte, 8))); !errors.Is(err, ErrGoing) {
		t.Errorf("with nothing open: %v", err)
	}
	if _, err := NewHTTP2(nil, nil).New().Read(frame(frameGoAway, 0, 0, nil)); err == nil || errors.Is(err, ErrGoing) {
		t.Errorf("a GOAWAY without a stream: %v", err)
	}
}

// A request that is given up is reset, and what still comes for it is read and ignored. So is one that is answered
// before its body was sent, as its stream would count as open.
func TestResetStreams(t *testing.T) {
	t.Parallel()
	c := NewHTTP2(nil, make([]byte, 100_000)).New().(*http2Client)
	c.Ask(1)
	c.Ask(2)
	give(t, c, frame(frameSettings, 0, 0, nil))
	c.Reply()
	c.Cancel(1)
	c.Cancel(9) // which is not open
	if got := kinds(t, c.Reply()); !reflect.DeepEqual(got, [][2]uint32{{frameReset, 1}}) {
		t.Errorf("%v", got)
	}
	if got := give(t, c, frame(frameHeaders, flagEndHeaders, 1, []byte{0x88}), frame(frameData, flagEndStream, 1, []byte("late"))); got != (Got{}) {
		t.Errorf("%+v of a request that was given up", got)
	}
	if got := give(t, c, status(3, 0x88)); got.Done != 1 {
		t.Errorf("%+v", got)
	}
	if got := kinds(t, c.Reply()); !reflect.DeepEqual(got, [][2]uint32{{frameReset, 3}}) {
		t.Errorf("after an early answer: %v", got)
	}
}

// A window of the connection goes to the oldest request first; one of a stream to that stream.
func TestWindowsOfStreams(t *testing.T) {
	t.Parallel()
	c := NewHTTP2(nil, make([]byte, 40_000)).New().(*http2Client)
	for i := range int64(3) { // of 65,535 bytes the second gets the last, the third none
		c.Ask(i)
	}
	give(t, c, windowBy(0, 20_000))
	if got := kinds(t, c.Reply()); !reflect.DeepEqual(got, [][2]uint32{{frameData, 3}, {frameData, 5}}) {
		t.Errorf("%v", got)
	}
	if rest := len(c.open[1].rest) + 100*len(c.open[2].rest); rest != 100*34_465 {
		t.Errorf("%d", rest)
	}
	give(t, c, windowBy(3, 20_000))
	if got := c.Reply(); len(got) > 0 {
		t.Errorf("%q without a window of the connection", got)
	}
}
