package watch

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

// What a webhook gave up is in its next message, and said at the end where there is none; a command
// that failed was run all the same.
func TestWhatIsGivenUpIsToldLater(t *testing.T) {
	for name, ends := range map[string]bool{"a webhook": true, "a command": false} {
		action := &noted{err: errors.New("503 Service Unavailable")}
		var said []string
		a := NewAlarms("--webhook", action, DefaultLimits, ends, func(s string) { said = append(said, s) })
		other := frozen
		other.Stream, other.Server = "live/cam2", "b"
		tickWith(a, epoch, 0, frozen, other)
		a.done.Wait()
		action.err = nil
		third := frozen
		third.Stream, third.Server = "live/cam3", "c"
		tickWith(a, epoch.Add(2*time.Second), 0, frozen, other, third)
		a.done.Wait()
		want := Held{Alarms: 2, Streams: []string{"live/cam1", "live/cam2"}}
		if !ends {
			want = Held{}
		}
		if len(action.calls) != 2 || !reflect.DeepEqual(action.calls[1].Lost, want) {
			t.Fatalf("%s: %+v", name, action.calls)
		}
		c := action.calls[1]
		for form, says := range map[string]string{"snag": `"undelivered":{"alarms":2,"streams":["live/cam1","live/cam2"]}`, "alertmanager": `"undelivered":"2 alarms of 2 streams (live/cam1, live/cam2)"`, "slack": "could not be delivered before"} {
			if text, _ := body(t, form, c); strings.Contains(text, says) != ends {
				t.Errorf("%s, as %s: %s", name, form, text)
			}
		}
		if text := strings.Join(said, "\n"); strings.Contains(text, "2 alarms of 2 streams (live/cam1, live/cam2) could not be delivered before") != ends {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// A message that is given up takes with it what it was to say of others: the next one says it.
func TestWhatAMessageThatWasGivenUpHadToSay(t *testing.T) {
	q := newQueue("--webhook", true, DefaultLimits)
	c := callOf(frozen)
	c.Held = Held{Alarms: 3, Streams: []string{"a", "b"}, More: true}
	c.Lost = Held{Alarms: 2, Streams: []string{"live/cam1"}}
	q.gaveUp(c)
	if want := (Held{Alarms: 3, Streams: []string{"live/cam1"}}); !reflect.DeepEqual(q.held, c.Held) || !reflect.DeepEqual(q.lost, want) {
		t.Errorf("held back %+v, lost %+v", q.held, q.lost)
	}
}

func TestTheEndSaysWhatWasGivenUp(t *testing.T) {
	action := &noted{err: errors.New("503 Service Unavailable")}
	var said []string
	a := NewAlarms("--webhook", action, DefaultLimits, true, func(s string) { said = append(said, s) })
	tickWith(a, epoch, 0, frozen)
	a.End(context.Background(), epoch.Add(time.Second))
	if text := strings.Join(said, "\n"); !strings.Contains(text, "1 alarm of 1 stream (live/cam1) could not be delivered, and the watch ended before the next call") {
		t.Errorf("it said %s", text)
	}
}
