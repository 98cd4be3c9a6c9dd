package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What snag record reads: single URLs, a list, one stream at several layers; which are left out is said.
func TestRecordTakesStreams(t *testing.T) {
	t.Parallel()
	list := filepath.Join(t.TempDir(), "cams.txt")
	if err := os.WriteFile(list, []byte("# cameras\nrtmp://127.0.0.1/live/cam1 name=door\nrtmp://127.0.0.1/live/cam2\nrtmp://127.0.0.1/live/cam3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const layers = "ingest=rtmp://127.0.0.1/live/x,edge=rtmp://127.0.0.2/live/x"
	const each = "ingest=rtmp://127.0.0.1/{app}/{stream},edge=rtmp://127.0.0.2/{app}/{stream}"
	for _, tt := range []struct {
		name    string
		f       streamFlags
		streams int
		notes   string
		err     string
	}{
		{"nothing", streamFlags{}, -1, "", ""},
		{"a URL", streamFlags{urls: []string{"rtmp://127.0.0.1/live/cam"}}, 1, "", ""},
		{"a list", streamFlags{list: list}, 3, "", ""},
		{"a list and a URL", streamFlags{list: list, urls: []string{"rtmp://127.0.0.1/live/cam"}}, 4, "", ""},
		{"layers", streamFlags{layers: layers}, 2, "", ""},
		{"layers of a list", streamFlags{list: list, layers: each}, 6, "", ""},
		{"more than the bound", streamFlags{list: list, most: 1}, 1, "streams that are not read: live/cam2, live/cam3", ""},
		{"layers of nothing", streamFlags{layers: each}, 0, "", "--list FILE"},
		{"pictures of nothing", streamFlags{picture: true}, 0, "", "--stream URL"},
		{"a list that is not there", streamFlags{list: list + "x"}, 0, "", "no such file"},
		{"a URL that nobody reads", streamFlags{urls: []string{"rtmpp://x/y"}}, 0, "", "rtmpp"},
	} {
		if tt.f.most == 0 {
			tt.f.most = defaultListed
		}
		tt.f.look = time.Minute
		var notes []string
		v, err := newViewing(tt.f, func(text string) { notes = append(notes, text) })
		switch {
		case tt.err != "":
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: %v, want an error with %q", tt.name, err, tt.err)
			}
		case err != nil:
			t.Errorf("%s: %v", tt.name, err)
		case tt.streams < 0:
			if v != nil {
				t.Errorf("%s: streams are read", tt.name)
			}
		case len(v.w.Snapshot().Rows) != tt.streams || !strings.HasSuffix(strings.Join(notes, "\n"), tt.notes) || tt.notes == "" && len(notes) > 0:
			t.Errorf("%s: %d streams, want %d; it says %q, want %q", tt.name, len(v.w.Snapshot().Rows), tt.streams, notes, tt.notes)
		}
	}
}
