package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const someList = `# cameras
rtmp://a/live/cam1
rtsp://user:secret@b:8554/door?key=xyz  name="Front door" threshold=2.5   # the door

http://c/x.m3u8 threshold=800ms
not-a-url
rtmp://a/live/x threshold=0.01
rtmp://a/live/y colour=red
rtmp://a/live/z 'name=open
udp://239.0.0.1:5000
rtmp://a/live/half`

func TestParseList(t *testing.T) {
	entries, problems := ParseList("cams.txt", []byte(someList), false)
	var got []string
	for _, e := range entries {
		got = append(got, fmt.Sprintf("%s %s %s %s", e.Name, ShownURL(e.URL), e.Threshold, e.From))
	}
	want := `live/cam1 rtmp://a/live/cam1 0s cams.txt:2
Front door rtsp://b:8554/door?key=… 2.5s cams.txt:3
x.m3u8 http://c/x.m3u8 800ms cams.txt:5
239.0.0.1:5000 udp://239.0.0.1:5000 0s cams.txt:10`
	if strings.Join(got, "\n") != want {
		t.Errorf("read as\n%s", strings.Join(got, "\n"))
	}
	for i, says := range []string{"cams.txt:6: not-a-url has no protocol", "cams.txt:7: threshold=0.01: from", "cams.txt:8: there is no field colour=", "cams.txt:9: a quote is opened"} {
		if i >= len(problems) || !strings.HasPrefix(problems[i].Error(), says) {
			t.Errorf("problem %d of %v is not %q", i, problems, says)
		}
	}
	whole, _ := ParseList("cams.txt", []byte(someList), true)
	if len(whole) != len(entries)+1 {
		t.Error("the last line of a whole list was left out")
	}
}

func TestAListSaysNoSecretsAndMovesNoCursor(t *testing.T) {
	list := "rtmp://user:hunter2@a:b:c/x?k=hunter2\nrtmp://a/\x1b[2Jx name=\x1b]0;evil\x07\nrtmp://a/%1b[2Jok?token=hunter2 name=a\u202eb\n" + strings.Repeat("x", 20000) + "\n"
	entries, problems := ParseList("l", []byte(list), true)
	var said strings.Builder
	for _, e := range entries {
		said.WriteString(e.Name + ShownURL(e.URL))
	}
	for _, p := range problems {
		said.WriteString(p.Error())
	}
	if s := said.String(); strings.Contains(s, "hunter2") || strings.ContainsAny(s, "\x1b\x07\u202e") || len(s) > 2000 {
		t.Errorf("%d characters: %q", len(s), s)
	}
	if len(problems) != 3 {
		t.Errorf("%d problems: %v", len(problems), problems)
	}
}

func TestManyBadLinesAreToldOnce(t *testing.T) {
	_, problems := ParseList("l", []byte(strings.Repeat("bad\n", 5000)), true)
	if len(problems) != maxProblems+1 || !strings.Contains(problems[maxProblems].Error(), "4980 more lines") {
		t.Errorf("%d problems, the last %v", len(problems), problems[len(problems)-1])
	}
}

func TestAListIsReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cams.txt")
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	l := NewListFile(path)
	look := func(after time.Duration) (int, bool) {
		t.Helper()
		entries, _, changed, err := l.Look(time.Now().Add(after))
		if err != nil {
			t.Fatal(err)
		}
		return len(entries), changed
	}
	put("rtmp://a/1\nrtmp://a/2")
	if n, changed := look(0); n != 1 || !changed {
		t.Errorf("half a line was taken: %d, %v", n, changed)
	}
	if _, changed := look(0); changed {
		t.Error("an unchanged list was read again")
	}
	if n, changed := look(settled + time.Second); n != 2 || !changed {
		t.Errorf("a list that lies still is whole: %d, %v", n, changed)
	}
	if _, changed := look(settled + time.Second); changed {
		t.Error("it was read again and again")
	}
	put("rtmp://a/1\nrtmp://a/2\nrtmp://a/3\n")
	if n, changed := look(0); n != 3 || !changed {
		t.Errorf("%d, %v", n, changed)
	}
	// An editor renames a new file over it, of the same size and time.
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	next := path + ".new"
	if err := os.WriteFile(next, []byte("rtmp://b/1\nrtmp://b/2\nrtmp://b/3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(next, st.ModTime(), st.ModTime()); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, path); err != nil {
		t.Fatal(err)
	}
	if _, changed := look(0); !changed {
		t.Error("another file in its place was not seen")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := l.Look(time.Now()); err == nil {
		t.Error("a list that is gone is not an error")
	}
}

func FuzzParseList(f *testing.F) {
	f.Add([]byte(someList))
	f.Add([]byte("rtmp://[::1]:x/\x00\n'\"\\"))
	f.Fuzz(func(t *testing.T, b []byte) {
		entries, problems := ParseList("l", b, true)
		for _, e := range entries {
			if e.Name == "" || e.URL == nil || Clean(e.Name, 2*maxName) != e.Name {
				t.Errorf("%q", e.Name)
			}
		}
		if len(problems) > maxProblems+1 {
			t.Errorf("%d problems", len(problems))
		}
	})
}

func TestParseArgument(t *testing.T) {
	for arg, want := range map[string]Entry{
		"rtmp://h/live/cam1":                             {Name: "live/cam1"},
		"rtmp://h/live/cam1 name=door threshold=3s":      {Name: "door", Threshold: 3 * time.Second},
		" rtmp://h/live/cam1\tname='the front door' ":    {Name: "the front door"},
		"rtsp://joe:it's@h/cam1":                         {Name: "cam1"},
		"rtmp://h/live/cam1 threshold=0.5 # by the gate": {Name: "live/cam1", Threshold: 500 * time.Millisecond},
	} {
		e, err := ParseArgument(arg, "the test")
		if err != nil || e.Name != want.Name || e.Threshold != want.Threshold || e.From != "the test" {
			t.Errorf("%q: %+v, %v", arg, e, err)
		}
	}
	for arg, want := range map[string]string{
		"":                                "has no protocol",
		"  ":                              "an empty argument",
		"rtmp://h/live/cam1 treshold=3s":  "there is no field treshold=",
		"rtmp://h/live/cam1 threshold=9h": "threshold=9h",
		"rtmp://h/a rtmp://h/b":           "is not a field",
	} {
		if _, err := ParseArgument(arg, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", arg, err, want)
		}
	}
}
