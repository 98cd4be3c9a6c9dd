package load

import (
	"context"
	"math"
	"net"
	"reflect"
	"sync"
	"testing"
	"time"

	"snag/internal/conversation"
)

func event(at float64, out bool, bytes int) conversation.Event {
	d := time.Duration(at * float64(time.Millisecond))
	return conversation.Event{Begin: d, End: d, Out: out, Bytes: bytes}
}

// a conversation of three messages in 300 ms: 100 bytes in two writes, 40 bytes, 7 bytes without an answer.
var recordedTalk = conversation.Conversation{Timed: true, From: "trace", Events: []conversation.Event{
	event(0, true, 20), event(0.1, true, 80), event(3, false, 10),
	event(50, true, 40), event(55, false, 300),
	event(250, true, 7), event(300, true, 0),
}}

// receiver notes the sizes of what comes on its connections, and answers each message as asked.
func receiver(t *testing.T, answers map[int]int) (address string, got func() ([]int, []time.Time)) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	var mu sync.Mutex
	var sizes []int
	var whole []time.Time // when each message was
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				b, have := make([]byte, 4096), 0
				for {
					n, err := c.Read(b)
					if err != nil {
						return
					}
					have += n
					mu.Lock()
					sizes = append(sizes, n)
					mu.Unlock()
					if answer, ends := answers[have]; ends {
						have = 0
						mu.Lock()
						whole = append(whole, time.Now())
						mu.Unlock()
						_, _ = c.Write(make([]byte, answer))
					}
				}
			}()
		}
	}()
	return l.Addr().String(), func() ([]int, []time.Time) {
		mu.Lock()
		defer mu.Unlock()
		return sizes, whole
	}
}

// The messages of a conversation are sent again in their order and at their times.
func TestLike(t *testing.T) {
	address, got := receiver(t, map[int]int{100: 10, 40: 300, 7: 0})
	to, times, err := Like(target(t, "tcp://"+address, Request{Size: 1}), recordedTalk, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	on := true
	p := Plan{Target: to, Times: times, Rate: times.Rate(1), Conns: 1, For: 900 * time.Millisecond, Timeout: time.Second, Options: SocketOptions{CPU: -1, NoDelay: &on}}
	if times.Every != 375*time.Millisecond {
		t.Fatalf("it begins anew each %v", times.Every)
	}
	r, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	// 0, 50, 250, 375, 425, 625, 750, 800 ms
	if r.Sent+r.Behind != 8 || r.Done != r.Sent || !r.Lossless() || r.Unasked != 0 {
		t.Errorf("%d sent, %d answered, lost %v, %d behind, %d unasked", r.Sent, r.Done, r.Lost, r.Behind, r.Unasked)
	}
	sizes, whole := got()
	sum := 0
	for _, n := range sizes {
		sum += n
	}
	want := 0
	for i := range r.Sent {
		want += []int{100, 40, 7}[i%3]
	}
	if sum != want || int64(len(whole)) != r.Sent {
		t.Fatalf("%d bytes in %d messages came: %v", sum, len(whole), sizes)
	}
	due := []float64{0, 50, 250, 375, 425, 625, 750, 800}
	for i := range whole {
		if at := whole[i].Sub(whole[0]).Seconds() * 1e3; at < due[i]-60 || at > due[i]+60 { // the host has other work
			t.Errorf("message %d came after %.0f ms, want %.0f", i, at, due[i])
		}
	}
	if want := p.wanted(p.For); want != 8 {
		t.Errorf("%v are due", want)
	}
}

func TestTimesOfALike(t *testing.T) {
	messages := recordedTalk.Messages()
	ms := func(v ...float64) (out []time.Duration) {
		for _, v := range v {
			out = append(out, time.Duration(v*float64(time.Millisecond)))
		}
		return out
	}
	untimed := recordedTalk
	untimed.Timed = false
	for name, c := range map[string]struct {
		of    conversation.Conversation
		conns int
		rate  float64
		at    []time.Duration
		every float64
	}{
		"as it was":             {recordedTalk, 1, 0, ms(0, 50, 250), 375},
		"twice as often":        {recordedTalk, 1, 16, ms(0, 25, 125), 187.5},
		"two connections":       {recordedTalk, 2, 16, ms(0, 50, 250), 375},
		"no times, a rate":      {untimed, 2, 20, ms(0, 100, 200), 300},
		"no times, and no rate": {untimed, 2, 0, ms(0, 1000, 2000), 3000},
	} {
		got := timesOf(messages, c.of, c.conns, c.rate)
		if !reflect.DeepEqual(got.At, c.at) || math.Abs(float64(got.Every)/1e6-c.every) > 1e-3 {
			t.Errorf("%s: %+v, want %v each %v ms", name, got, c.at, c.every)
		}
	}
	// Each connection begins a part of the sequence later, and what is due is counted by the same times.
	times := timesOf(messages, recordedTalk, 3, 0)
	due := int64(0)
	for i := range int64(60) {
		if times.due(i, 3) < time.Second {
			due++
		}
	}
	counted := times.before(time.Second, 0, 3) + times.before(time.Second, 1, 3) + times.before(time.Second, 2, 3)
	if counted != due || times.due(1, 3)-times.due(0, 3) != 125*time.Millisecond || times.before(time.Second, 3, 3) != times.before(time.Second, 0, 3)-1 {
		t.Errorf("%d counted, %d due", counted, due)
	}
}
