package files

import (
	"errors"
	"maps"
	"slices"
	"testing"
)

func TestShape(t *testing.T) {
	for name, want := range map[string]string{
		"match12.ts": "match#.ts", "match7.ts.tmp": "match#.ts", "seg_00012.m4s": "seg_#.m4s", "1792-3.ts": "#-#.ts", "init.mp4": "init.mp4", "": "",
	} {
		if got := shape(name); got != want {
			t.Errorf("%q has the shape %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]bool{"a.ts": true, "a.TS": true, "a.m4s.tmp": true, "a.m3u8": false, "ts": false, "a.tsx": false} {
		if segmentLike(name) != want {
			t.Errorf("%q is like a segment: %v", name, !want)
		}
	}
}

// disk is what a reader of files finds.
type disk map[string]string

func (d disk) read(name string) ([]byte, error) {
	if b, ok := d[name]; ok {
		return []byte(b), nil
	}
	return nil, errors.New("no such file")
}

func TestPlacesOfAPlaylist(t *testing.T) {
	const media = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n"
	d := disk{
		"/srv/live/x.m3u8":      media + "x11.ts\n#EXTINF:2,\nx12.ts?t=1\n",
		"/srv/live/deep.m3u8":   media + "seg/0/x11.ts\n",
		"/srv/live/far.m3u8":    media + "http://cdn/x11.ts\n#EXTINF:2,\n/abs/x12.ts\n",
		"/srv/live/master.m3u8": "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nlow/i.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=2\nhigh/i.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=3\ngone/i.m3u8\n",
		"/srv/live/low/i.m3u8":  media + "a1.ts\n",
		"/srv/live/high/i.m3u8": media + "b1.ts\n",
		"/srv/live/no.m3u8":     "<html>",
	}
	for name, want := range map[string]map[string]string{
		"x.m3u8": {"/srv/live": "x#.ts"}, "deep.m3u8": {"/srv/live/seg/0": "x#.ts"}, "far.m3u8": {}, "no.m3u8": {}, "none.m3u8": {},
		"master.m3u8": {"/srv/live/low": "a#.ts", "/srv/live/high": "b#.ts"},
	} {
		got := map[string]string{}
		for dir, p := range placesOf(d.read, "/srv/live/"+name) {
			for _, s := range slices.Sorted(maps.Keys(p.shapes)) {
				got[dir] += s
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestOutputs(t *testing.T) {
	for cmdline, want := range map[string]int{
		"ffmpeg\x00-i\x00rtmp://a/live/x\x00-f\x00hls\x00/srv/x.m3u8\x00":    1,
		"ffmpeg\x00-i\x00/srv/x.m3u8\x00-f\x00null\x00-\x00":                 0, // it reads it
		"ffmpeg\x00-f\x00tee\x00[f=flv]rtmp://b/x|[f=hls]/srv/x.m3u8\x00":    1,
		"sh\x00-c\x00ffmpeg -i a -f hls x.m3u8\x00":                          0, // the child has it as an argument
		"ffmpeg\x00-f\x00hls\x00http://origin/x.m3u8\x00":                    0,
		"tail\x00-f\x00/srv/xx.m3u8\x00":                                     0,
		"packager\x00--hls_master_playlist_output=x\x00file:/srv/x.m3u8\x00": 1,
	} {
		if got := outputs([]byte(cmdline), "x.m3u8"); len(got) != want {
			t.Errorf("%q: %v, want %d", cmdline, got, want)
		}
	}
}

func TestAlike(t *testing.T) {
	if n := alike("/tmp/hls/live/x.m3u8", "/live/x.m3u8"); n != 2 {
		t.Errorf("%d parts alike, want 2", n)
	}
	if n := alike("/a/y.m3u8", "/x.m3u8"); n != 0 {
		t.Errorf("%d parts alike, want none", n)
	}
}

func TestEnough(t *testing.T) {
	for url, want := range map[string][2]bool{ // by one like part, and by two
		"/live/cam1.m3u8": {true, true}, "/live/cam1/index.m3u8": {false, true}, "/index.m3u8": {true, true},
	} {
		if enough(1, url) != want[0] || enough(2, url) != want[1] || enough(0, url) {
			t.Errorf("%s", url)
		}
	}
}

func TestWritable(t *testing.T) {
	for text, want := range map[string]bool{
		"pos:\t0\nflags:\t0100001\nmnt_id:\t30\n": true, "pos:\t0\nflags:\t0100002\n": true, "pos:\t0\nflags:\t0100000\n": false, "pos:\t1\n": false, "flags:\t\n": false,
	} {
		if writable([]byte(text)) != want {
			t.Errorf("%q is open to write: %v", text, !want)
		}
	}
}

// FuzzPlaces: a hostile playlist names files below its own folder's neighbours at the
// most, never one of a server.
func FuzzPlaces(f *testing.F) {
	f.Add("#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\nx11.ts\n")
	f.Add("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n../../i.m3u8\n")
	f.Fuzz(func(t *testing.T, text string) {
		reads := 0
		placesOf(func(string) ([]byte, error) {
			reads++
			return []byte(text), nil
		}, "/srv/live/x.m3u8")
		if reads > mostVariants+1 {
			t.Errorf("%d files were read", reads)
		}
	})
}

// FuzzOutputs: what a command line names ends with the playlist's name.
func FuzzOutputs(f *testing.F) {
	f.Add([]byte("ffmpeg\x00-i\x00a\x00[f=hls]/srv/x.m3u8\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, arg := range outputs(b, "x.m3u8") {
			if len(arg) < len("x.m3u8") {
				t.Errorf("%q", arg)
			}
		}
	})
}
