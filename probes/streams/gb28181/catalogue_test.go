package gb28181

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/simplifiedchinese"

	"snag/probes/streams/gb28181/gbtest"
	"snag/probes/streams/stream"
)

const (
	platformID = "34020000002000000001"
	door       = "34020000001320000001"
	hall       = "34020000001310000002"
	yard       = "34020000001320000003"
)

// listed is a catalogue with cameras, and with what no camera is.
func listed() []gbtest.Camera {
	return []gbtest.Camera{
		{ID: "3402", Name: "a region"},
		{ID: "34020000002160000001", Name: "a group", Parental: "1"},
		{ID: "34020000001180000001", Name: "a recorder", Status: "ON", Parental: "1"},
		{ID: "34020000001340000001", Name: "an alarm input", Status: "ON"},
		{ID: door, Name: "大门 Door", Status: "ON"},
		{ID: hall, Name: "大厅 Hall", Status: "OFF"},
		{ID: yard, Name: "院子 Yard", Status: "ON"},
	}
}

func at(t *testing.T, raw string) Address {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	a, err := Parse(u)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// ask asks for a catalogue, and leaves.
func ask(t *testing.T, raw string) (List, error) {
	t.Helper()
	a := at(t, raw)
	l, err := Catalogue(context.Background(), a, stream.Options{Timeout: time.Second})
	Leave(a, "")
	return l, err
}

func gbk(s string) []byte {
	b, err := simplifiedchinese.GBK.NewEncoder().String(s)
	if err != nil {
		panic(err)
	}
	return []byte(b)
}

func TestCatalogue(t *testing.T) {
	want := []Item{{door, "大门 Door", true}, {hall, "大厅 Hall", false}, {yard, "院子 Yard", true}}
	for _, c := range []struct {
		name, network, query string
		p                    *gbtest.Platform
	}{
		{"UDP, one message, UTF-8", "udp", "", &gbtest.Platform{}},
		{"UDP, a message for each item, GBK, each twice", "udp", "", &gbtest.Platform{Each: 1, Encode: gbk, Twice: true}},
		{"TCP, three items a message, GBK", "tcp", "?transport=tcp", &gbtest.Platform{Each: 3, Encode: gbk}},
		{"digest", "udp", "", &gbtest.Platform{User: "me", Password: "s3 cret"}},
		{"digest of each request, TCP", "tcp", "?transport=tcp", &gbtest.Platform{User: "me", Password: "s3 cret", Challenge: []string{"REGISTER", "MESSAGE"}}},
		{"lost requests are sent again", "udp", "", &gbtest.Platform{Deaf: map[string]int{"REGISTER": 1, "MESSAGE": 1}}},
		{"a device that takes no registration", "udp", "?register=no", &gbtest.Platform{Refuse: map[string]int{"REGISTER": 405}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := c.p
			p.ID, p.Cameras = platformID, listed()
			p.Serve(t, c.network)
			raw := p.URL() + c.query
			if p.User != "" {
				raw = strings.Replace(raw, "//", "//me:s3%20cret@", 1)
			}
			l, err := ask(t, raw)
			if err != nil || !slices.Equal(l.Cameras, want) || l.Of != 7 || l.Got != 7 || !l.Whole() {
				t.Errorf("%+v, %v", l, err)
			}
			seen := p.Seen()
			for end := time.Now().Add(2 * time.Second); c.query != "?register=no" && seen[len(seen)-1] != "REGISTER" && time.Now().Before(end); seen = p.Seen() {
				time.Sleep(10 * time.Millisecond) // datagrams to a busy platform
			}
			time.Sleep(50 * time.Millisecond) // more than is right may come
			if c.query != "?register=no" && seen[len(seen)-1] != "REGISTER" {
				t.Errorf("it did not end its registration: %q", seen)
			}
			parts := map[int]int{0: 1, 1: 7, 3: 3}[p.Each]
			if p.Twice {
				parts *= 2
			}
			if n := p.Count("200 to MESSAGE"); n != parts {
				t.Errorf("%d of %d parts were answered: %q", n, parts, seen)
			}
		})
	}
}

// A registration serves all rounds, and one that the platform has forgotten is made anew.
func TestOneRegistration(t *testing.T) {
	p := (&gbtest.Platform{ID: platformID, Cameras: listed()}).Serve(t, "udp")
	a := at(t, p.URL())
	defer Leave(a, "")
	for range 3 {
		if l, err := Catalogue(context.Background(), a, stream.Options{Timeout: time.Second}); err != nil || len(l.Cameras) != 3 {
			t.Fatalf("%+v, %v", l, err)
		}
	}
	if n := p.Count("REGISTER"); n != 1 {
		t.Errorf("it registered %d times", n)
	}
	p.Forget()
	if l, err := Catalogue(context.Background(), a, stream.Options{Timeout: time.Second}); err != nil || len(l.Cameras) != 3 {
		t.Errorf("after the platform has begun anew: %+v, %v", l, err)
	}
	if n := p.Count("REGISTER"); n != 2 {
		t.Errorf("it registered %d times, and was to do so again", n)
	}
}

func TestPartOfACatalogue(t *testing.T) {
	p := (&gbtest.Platform{ID: platformID, Cameras: listed(), Each: 2, Hold: 3}).Serve(t, "udp")
	begin := time.Now()
	l, err := ask(t, p.URL())
	if err != nil || l.Whole() || l.Got != 4 || l.Of != 7 || len(l.Cameras) != 0 {
		t.Errorf("%+v, %v", l, err)
	}
	if took := time.Since(begin); took < time.Second || took > 3*time.Second {
		t.Errorf("it waited %s", took)
	}
}

// A camera's name does not cost the catalogue, whatever is in it.
func TestHostileNames(t *testing.T) {
	raw := []gbtest.Camera{{ID: door, Name: "a\x1b[31mred\x07\u009b1m\u202e", Status: "ON"}, {ID: hall + "\r\nX: y", Name: "x", Status: "ON"}, {ID: yard, Name: "NUM27", Status: "ON"}}
	p := (&gbtest.Platform{ID: platformID, Cameras: raw, Encode: func(s string) []byte {
		return []byte(strings.ReplaceAll(s, "NUM27", "&#27;[2J&#x1b;&#60;"))
	}}).Serve(t, "udp")
	l, err := ask(t, p.URL())
	if err != nil || len(l.Cameras) != 3 || IsID(l.Cameras[1].ID) {
		t.Fatalf("%+v, %v", l, err)
	}
	for i, want := range []string{"a�[31mred�\u009b1m\u202e", "x", "�[2J�<"} {
		if got := l.Cameras[i].Name; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestCatalogueErrors(t *testing.T) {
	torn := func(s string) []byte { return []byte(s[:len(s)/2]) }
	for _, c := range []struct {
		name string
		p    *gbtest.Platform
		want []string
	}{
		{"no answer to REGISTER", &gbtest.Platform{Deaf: map[string]int{"REGISTER": 99}}, []string{"no answer to REGISTER within 1s, sent 2 times"}},
		{"no answer to the query", &gbtest.Platform{Deaf: map[string]int{"MESSAGE": 99}}, []string{"no answer to MESSAGE within 1s, sent 2 times"}},
		{"a password is wanted", &gbtest.Platform{User: "me", Password: "x"}, []string{"401 Unauthorized to REGISTER", "--discover-credentials"}},
		{"forbidden", &gbtest.Platform{Refuse: map[string]int{"REGISTER": 403}}, []string{"403 Forbidden to REGISTER", "34020000004000000001"}},
		{"no registration", &gbtest.Platform{Refuse: map[string]int{"REGISTER": 405}}, []string{"405 Method Not Allowed to REGISTER", "register=no"}},
		{"no such device", &gbtest.Platform{Refuse: map[string]int{"MESSAGE": 404}}, []string{"404 Not Found to the query for its catalogue", "does it know this id"}},
		{"torn", &gbtest.Platform{Encode: torn}, []string{"it sent a catalogue, and its XML can't be read"}},
		{"silent", &gbtest.Platform{Silent: true}, []string{"took the query", "sent none within 1s"}},
		{"no SumNum", &gbtest.Platform{Encode: func(s string) []byte { return []byte(strings.ReplaceAll(s, "SumNum", "Sum")) }}, []string{"does not say how many items it has (SumNum)"}},
		{"another's SN", &gbtest.Platform{Encode: func(s string) []byte { return []byte(strings.ReplaceAll(s, "<SN>", "<SN>9")) }}, []string{"sent none within 1s"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := c.p
			p.ID, p.Cameras = platformID, listed()
			p.Serve(t, "udp")
			_, err := ask(t, p.URL())
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v: not %q", err, want)
				}
			}
		})
	}
	t.Run("a wrong password is tried once", func(t *testing.T) {
		p := (&gbtest.Platform{ID: platformID, User: "me", Password: "x"}).Serve(t, "udp")
		_, err := ask(t, strings.Replace(p.URL(), "//", "//me:hunter2@", 1))
		if err == nil || !strings.Contains(err.Error(), "although credentials were sent") || strings.Contains(err.Error(), "hunter2") || p.Count("REGISTER") != 2 {
			t.Errorf("%v, %q", err, p.Seen())
		}
	})
	t.Run("nothing listens", func(t *testing.T) {
		begin := time.Now()
		_, err := ask(t, "gb28181://127.0.0.1:4/"+platformID)
		if err == nil || !strings.Contains(err.Error(), "nothing listens at its UDP port") || time.Since(begin) > 500*time.Millisecond {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
		if _, err := ask(t, "gb28181://127.0.0.1:4/"+platformID+"?transport=tcp"); err == nil || !strings.Contains(err.Error(), "connection refused") {
			t.Error(err)
		}
	})
}

// Requests are sent again after T1, 2 T1, 4 T1, and then T2 (RFC 3261 17.1.2.2).
func TestTimers(t *testing.T) {
	var waits []time.Duration
	for wait := t1; len(waits) < 6; wait = again(wait, false) {
		waits = append(waits, wait)
	}
	if got := fmt.Sprint(waits); got != "[500ms 1s 2s 4s 4s 4s]" {
		t.Error(got)
	}
	if again(8*time.Second, true) != 16*time.Second { // of INVITE T2 is no bound (17.1.1.2)
		t.Error("INVITE's")
	}
}
