package rtp

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// run puts packets "seq@ms[/ssrc[/ts]]" and tells in which order they were given,
// with the loss before each: "3(2)" is packet 3 after two lost ones, "|" a restart.
func run(t *testing.T, packets string) (string, Counts) {
	t.Helper()
	var out []string
	w := &Window[int]{Rate: 1000}
	w.Give = func(p *int, lost int) {
		text := fmt.Sprint(*p)
		if lost > 0 {
			text += fmt.Sprintf("(%d)", lost)
		}
		out = append(out, text)
	}
	w.Restart = func() { out = append(out, "|") }
	for _, text := range strings.Fields(packets) {
		var seq, ms, ssrc, ts int
		text = strings.NewReplacer("@", " ", "/", " ").Replace(text)
		n, _ := fmt.Sscan(text, &seq, &ms, &ssrc, &ts)
		if n < 2 {
			t.Fatalf("packet %q", text)
		}
		if n < 4 {
			ts = ms
		}
		w.Put(Mark{SSRC: uint32(ssrc), Seq: uint16(seq), TS: uint32(ts), At: int64(ms) * int64(time.Millisecond)}, seq)
	}
	w.Expire(int64(time.Hour))
	return strings.Join(out, " "), w.Counts
}

func TestWindow(t *testing.T) {
	for _, c := range []struct {
		name, in, out string
		want          Counts
	}{
		{"in order", "1@0 2@10 3@20", "1 2 3", Counts{Received: 3}},
		{"out of order", "1@0 3@10 2@20 4@30", "1 2 3 4", Counts{Received: 4, Reordered: 1}},
		{"loss", "1@0 4@10 5@20", "1 4(2) 5", Counts{Received: 3, Lost: 2}},
		{"two holes", "1@0 3@10 5@20 6@30", "1 3(1) 5(1) 6", Counts{Received: 4, Lost: 2}},
		{"loss ends after 200 ms", "1@0 3@10 4@250 2@260", "1 3(1) 4", Counts{Received: 4, Lost: 1, Late: 1}},
		{"twice", "1@0 2@1 2@2 1@3 3@4", "1 2 3", Counts{Received: 5, Duplicate: 2}},
		{"twice while held", "1@0 3@1 3@2 2@3", "1 2 3", Counts{Received: 4, Duplicate: 1, Reordered: 1}},
		{"late and then twice", "1@0 3@10 4@250 2@260 2@270", "1 3(1) 4", Counts{Received: 5, Lost: 1, Late: 1, Duplicate: 1}},
		{"wrap", "65534@0 65535@1 0@2 1@3", "65534 65535 0 1", Counts{Received: 4}},
		{"loss over the wrap", "65534@0 1@3 2@4", "65534 1(2) 2", Counts{Received: 3, Lost: 2}},
		{"a wide hole", "1@0 102@10 103@20", "1 102(100) 103", Counts{Received: 3, Lost: 100}},
		{"another source", "1@0/7 2@10/7 900@20/8 901@30/8", "1 2 | 900 901", Counts{Received: 4, Restarts: 1}},
		{"what was held comes before another source", "1@0/7 3@10/7 900@20/8 901@30/8", "1 3(1) | 900 901", Counts{Received: 4, Lost: 1, Restarts: 1}},
		{"one stray packet of another", "1@0/7 900@5/8 2@10/7", "1 2", Counts{Received: 2}},
		{"sequence anew, time anew", "1@0/7/0 2@10/7/10 40000@20/7/900000 40001@30/7/900010", "1 2 | 40000 40001", Counts{Received: 4, Restarts: 1}},
		{"sequence anew, lower", "40000@0/7/0 10@20/7/900000 11@30/7/900010", "40000 | 10 11", Counts{Received: 3, Restarts: 1}},
		{"a long loss is not a restart", "1@0 5001@30000 5002@30010", "1 5001(4999) 5002", Counts{Received: 3, Lost: 4999}},
		{"nor is one past half the sequence", "1@0 40001@300000 40002@300010", "1 40001(39999) 40002", Counts{Received: 3, Lost: 39999}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, got := run(t, c.in)
			if out != c.out || got != c.want {
				t.Errorf("given %s, want %s\n%+v, want\n%+v", out, c.out, got, c.want)
			}
		})
	}
}

// Every packet is given once or counted late or as a second copy, and given, lost
// and late ones make up the course, whatever the order.
func FuzzWindow(f *testing.F) {
	f.Add([]byte{1, 1, 1, 3, 255, 1, 1})
	f.Add([]byte{64, 192, 64, 192, 127, 1})
	f.Fuzz(func(t *testing.T, steps []byte) {
		given, last := uint64(0), int64(-1)
		w := &Window[int64]{Rate: 90000}
		w.Give = func(p *int64, lost int) {
			if *p <= last {
				t.Fatalf("%d after %d", *p, last)
			}
			if last >= 0 && *p-last-1 != int64(lost) {
				t.Fatalf("%d after %d with %d lost", *p, last, lost)
			}
			last = *p
			given++
		}
		w.Restart = func() { last = -1 }
		n, now := int64(1000), int64(0)
		for _, s := range steps {
			n = max(n+int64(int8(s)), 0)
			now += int64(s) * int64(time.Millisecond)
			w.Put(Mark{Seq: uint16(n), TS: uint32(now / 1000), At: now}, n)
		}
		w.Expire(now + int64(time.Hour))
		c := w.Counts
		if w.Holding() || c.Received != given+c.Late+c.Duplicate {
			t.Fatalf("given %d, %+v", given, c)
		}
	})
}
