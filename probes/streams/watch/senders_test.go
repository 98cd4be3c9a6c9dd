package watch

import (
	"slices"
	"testing"
	"time"

	"snag/probes/streams/kin"
)

// One who was seen to send a stream's frames stays its sender; where several send the same film
// nobody is.
func TestSenderOf(t *testing.T) {
	for _, c := range []struct {
		what string
		k    kinship
		seen []string
		want string
	}{
		{"nobody was seen", kinship{}, nil, ""},
		{"one", kinship{}, []string{"a:1"}, "a:1"},
		{"it is not seen any more", kinship{sender: "a:1"}, nil, "a:1"},
		{"another sends the same", kinship{sender: "a:1"}, []string{"a:1", "b:2"}, ""},
		{"by a capture of both sides", kinship{known: kin.Kin{Publisher: "c:3"}}, nil, "c:3"},
	} {
		if got := c.k.senderOf(c.seen); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}

// The publisher of a stream that nobody sends is looked for as well: who begins to publish it names
// it. So is the next one when that one left, and until then it stays who it was.
func TestSenderOfWhatIsRefused(t *testing.T) {
	f := &fake{}
	w := New(Options{Open: f.of, Compare: true})
	w.Set("list", entries(t, "rtmp://192.0.2.7/refuses/cam1", "rtmp://[2001:db8::1]:1936/dead/cam2", "rtmp://host.example/refuses/cam3", "rtmp://192.0.2.7/refuses/cam4"))
	defer running(w)()
	await(t, "each was asked for", func() bool { return f.opened.Load() >= 4 && len(w.Unsent()) == 2 })
	got := w.Unsent()
	if slices.Sort(got); !slices.Equal(got, []string{"192.0.2.7:1935", "[2001:db8::1]:1936"}) {
		t.Errorf("publishers are looked for at %v", got)
	}
	sends := func(want string) func() bool {
		return func() bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			for _, s := range w.streams {
				if s.asked.URL.Path == "/refuses/cam1" {
					return s.known().Publisher == want
				}
			}
			return false
		}
	}
	a := w.Sender("refuses/cam1", true, "192.0.2.9:40000")
	await(t, "its publisher is known", sends("192.0.2.9:40000"))
	a.Over()
	b := w.Sender("192.0.2.9:40001 → :1935", false, "192.0.2.9:40001")
	time.Sleep(1200 * time.Millisecond)
	if !sends("192.0.2.9:40000")() {
		t.Error("the one that left is forgotten while nobody else sends it")
	}
	b.Called("refuses/cam1")
	await(t, "the next one is", sends("192.0.2.9:40001"))
}
