package clientlog

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestWhatIsWrittenIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	w, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(-time.Second)
	done, same, open := w.Begin(at), w.BeginDue(at), w.Begin(at)
	w.End(done, OK)
	w.End(same, Failed)
	w.End(same, OK) // it has ended
	w.Sent(3)
	w.Arrived(2)
	w.Delivered(1000)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Requests) != 3 || l.Requests[0].Outcome != OK || l.Requests[1].Outcome != Failed || l.Requests[2].Outcome != Open || l.Requests[2].Start.UnixNano() != open {
		t.Errorf("requests %+v", l.Requests)
	}
	for _, r := range l.Requests {
		if r.Length < time.Second || r.Length > time.Minute {
			t.Errorf("a request that was due a second ago took %v", r.Length)
		}
	}
	if l.Requests[0].Late != 0 || l.Requests[1].Late < time.Second || l.Requests[1].Late > l.Requests[1].Length {
		t.Errorf("without a connection for %v and %v", l.Requests[0].Late, l.Requests[1].Late)
	}
	if len(l.Sent) != 1 || l.Sent[0].N != 3 || l.Arrived[0].N != 2 || l.Delivered[0].N != 1000 {
		t.Errorf("counts %+v", l)
	}
}

func TestNoLog(t *testing.T) {
	w, err := Create("")
	if err != nil || w != nil {
		t.Fatal(w, err)
	}
	w.End(w.Begin(time.Now()), OK)
	w.Sent(1)
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

func TestParse(t *testing.T) {
	l, err := parse(strings.NewReader("r 5 7 open\nr 5 90 lost\nr 1 2 ok\nd 8 3\nr 9 1"))
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Requests) != 2 || l.Requests[0].Length != 2 || l.Requests[1].Outcome != Lost || l.Requests[1].Length != 90 || len(l.Arrived) != 1 {
		t.Errorf("%+v", l)
	}
	for _, bad := range []string{"r 5 7 fine\n", "x 1 2\n", "r 5\n", "s a 1\n", "s 1 b\n"} {
		if _, err := parse(strings.NewReader(bad)); err == nil || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
