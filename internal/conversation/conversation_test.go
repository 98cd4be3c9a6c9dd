package conversation

import (
	"reflect"
	"testing"
	"time"
)

func ms(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }

func out(at float64, bytes int) Event {
	return Event{Begin: ms(at), End: ms(at), Out: true, Bytes: bytes}
}
func in(at float64, bytes int) Event { return Event{Begin: ms(at), End: ms(at), Bytes: bytes} }
func part(at float64, bytes int) Event {
	e := out(at, bytes)
	e.Joins = true
	return e
}

func TestMessages(t *testing.T) {
	for _, c := range []struct {
		name    string
		untimed bool
		events  []Event
		want    []Message
	}{
		{"two writes and an answer in two reads, twice", false,
			[]Event{out(10, 20), out(10.1, 80), in(50, 4), in(50.2, 6), out(60, 20), out(60.1, 90), in(100, 10)},
			[]Message{{0, []int{20, 80}, 10}, {ms(50), []int{20, 90}, 10}}},
		{"no answers: a pause ends a message", false,
			[]Event{out(0, 100), out(0.5, 50), out(320, 100)},
			[]Message{{0, []int{100, 50}, 0}, {ms(320), []int{100}, 0}}},
		{"a greeting is left out", false,
			[]Event{in(0, 78), out(5, 30), in(9, 11)},
			[]Message{{0, []int{30}, 11}}},
		{"segments of one write", false,
			[]Event{part(0, 1448), part(20, 1448), out(40, 104), in(60, 1)},
			[]Message{{0, []int{3000}, 1}}},
		{"an answer ends a write whose end was not seen", false,
			[]Event{part(0, 10), in(1, 1), out(2, 10)},
			[]Message{{0, []int{10}, 1}, {ms(2), []int{10}, 0}}},
		{"a write that Nagle's algorithm held back", false,
			[]Event{out(0, 40), {Begin: ms(40), End: ms(40), Out: true, Held: true, Bytes: 120}, in(41, 60), out(50, 40)},
			[]Message{{0, []int{40, 120}, 60}, {ms(50), []int{40}, 0}}},
		{"no times", true,
			[]Event{out(0, 1), out(0, 2), in(0, 3), out(0, 4)},
			[]Message{{0, []int{1, 2}, 3}, {0, []int{4}, 0}}},
		{"nothing was sent", false, []Event{in(0, 5), out(1, 0)}, nil},
	} {
		got := Conversation{Events: c.events, Timed: !c.untimed}.Messages()
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	c := Conversation{Events: []Event{in(0, 1), out(5, 1), in(25, 1)}}
	if c.Length() != ms(20) {
		t.Errorf("length %v", c.Length())
	}
}
