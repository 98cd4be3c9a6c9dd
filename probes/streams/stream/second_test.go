package stream

import (
	"fmt"
	"testing"
)

// listening is a Sounds that wants as many seconds as it says.
type listening struct {
	n   int
	got []Sound
}

func (l *listening) Wanted() bool { return l.n > 0 }
func (l *listening) Sound(s Sound, _ int64) {
	l.n--
	l.got = append(l.got, s)
}

// A second is so many frames that are a second long, of one time, all of which came whole.
func TestSecond(t *testing.T) {
	const frame = int64(100e6)
	for name, c := range map[string]struct {
		wants int
		do    func(k *Second, frame func(dts int64, text string))
		want  string
	}{
		"one":        {1, func(_ *Second, f func(int64, string)) { run(f, 0, 25) }, "[abcdefghij]"},
		"two":        {9, func(_ *Second, f func(int64, string)) { run(f, 0, 25) }, "[abcdefghij klmnopqrst]"},
		"none":       {0, func(_ *Second, f func(int64, string)) { run(f, 0, 25) }, "[]"},
		"a hole":     {1, func(k *Second, f func(int64, string)) { run(f, 0, 5); k.Drop(); run(f, 5, 25) }, "[fghijklmno]"},
		"a jump":     {1, func(_ *Second, f func(int64, string)) { run(f, 0, 5); run(f, 95, 115) }, "[rstuvwxyza]"},
		"a way back": {1, func(_ *Second, f func(int64, string)) { run(f, 50, 55); run(f, 0, 15) }, "[abcdefghij]"},
	} {
		var k Second
		l := &listening{n: c.wants}
		c.do(&k, func(dts int64, text string) {
			if k.Begin(l, dts) {
				k.Add([]byte(text))
			}
			k.End(l, Sound{Codec: "x"}, dts, frame, 5)
		})
		got := []string{}
		for _, s := range l.got {
			got = append(got, string(s.Bytes))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// run is frames from a tenth of a second on to another.
func run(frame func(int64, string), from, to int64) {
	for i := from; i < to; i++ {
		frame(i*100e6, string(rune('a'+i%26)))
	}
}

func TestSecondIsBounded(t *testing.T) {
	var k Second
	l := &listening{n: 1}
	for i := range int64(MostSound/1000 + 1) {
		k.Begin(l, i)
		k.Add(make([]byte, 1000))
		k.End(l, Sound{}, i, 1, 5)
		if cap(k.b) > 2*MostSound {
			t.Fatalf("%d bytes are kept", cap(k.b))
		}
	}
	if len(k.b) > 1000 || len(l.got) > 0 {
		t.Errorf("what is too large is kept as %d bytes", len(k.b))
	}
	k.Begin(nil, 0)
	if k.Add([]byte("x")); k.On() || k.b != nil {
		t.Error("it is kept, and nobody wants it")
	}
}
