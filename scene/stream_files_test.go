package scene

import (
	"fmt"
	"strings"
	"testing"

	"snag/recording/rectest"
)

// An HLS stream of segments of 1 s whose playlist had last changed 3 s before the recording began,
// and does so in second 2; then the server calls the longest segment, of 5 s, its target.
func TestAPlaylistThatWasLateAtFirst(t *testing.T) {
	written := rectest.Start.Add(-3e9)
	file := func(at int) string {
		mtime := written
		if at >= 2 {
			mtime = rectest.Start.Add(2e9)
		}
		return fmt.Sprintf(`{"t":%d,"name":"live/a","path":"/srv/a.m3u8","mtime":%d,"pid":51,"comm":"nginx"}`+"\n", at, mtime)
	}
	for _, c := range []struct {
		what, files string
		late        int // s
	}{
		{"its file tells since when", file(0) + file(1) + file(2) + file(3), 2},
		{"its file is not on this host", "", 0},
	} {
		text := "A case.\n-- streams --\n" + `{"t":1,"name":"live/a","protocol":"hls","side":"player","netns":1,"local":"10.0.0.9:6000","remote":"10.0.0.2:8080","fps":15}` + "\n" +
			"-- stream_files --\n" + c.files +
			"-- samples --\nsnag_stream_target_seconds{stream=\"live/a\",side=\"player\"} 1 1 5 5 5 5 5\n" +
			"snag_stream_playlist_age_seconds{stream=\"live/a\",side=\"player\"} 0 1 0 1 2 3 4\n"
		r, err := rectest.Parse([]byte(strings.Replace(text, "-- streams", "-- manifest --\n{\"seconds\": 7}\n-- streams", 1)))
		if err != nil {
			t.Fatal(err)
		}
		late := Build(r.Recording).Streams[0].Stale()
		seconds := 0
		for _, i := range late {
			seconds += int(i.End.Sub(i.Start).Seconds())
		}
		if seconds != c.late {
			t.Errorf("%s: late for %d s (%v), not %d", c.what, seconds, late, c.late)
		}
	}
}
