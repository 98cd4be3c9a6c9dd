package hls

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"snag/probes/streams/stream"
)

func readerOf(b []byte) io.ReadSeeker { return bytes.NewReader(b) }

func wantEnd(t *testing.T, err error) {
	t.Helper()
	var ended *stream.Ended
	if !errors.As(err, &ended) || ended.Why != "EXT-X-ENDLIST" {
		t.Errorf("%v, want the end by EXT-X-ENDLIST", err)
	}
}

func (k *kept) wantPictures(t *testing.T, pictures, keys int) {
	t.Helper()
	n, key, rising := k.of(stream.Video)
	if n != pictures || key != keys || !rising {
		t.Errorf("%d pictures, %d key, DTS rising %v; want %d and %d", n, key, rising, pictures, keys)
	}
}

// A recording is no live stream: nothing of it is loaded.
func TestRecordingIsNotRead(t *testing.T) {
	const text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n%s#EXTINF:6,\na.ts\n#EXTINF:4.5,\nb.ts\n#EXT-X-ENDLIST\n"
	for tag, final := range map[string]bool{"": false, "#EXT-X-PLAYLIST-TYPE:EVENT\n": false, "#EXT-X-PLAYLIST-TYPE:VOD\n": true} {
		loads := 0
		at := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if loads++; r.URL.Path != "/a.m3u8" {
				t.Errorf("%s was loaded", r.URL.Path)
			}
			fmt.Fprintf(w, text, tag)
		}))
		var k kept
		err := open(t, context.Background(), at+"/a.m3u8", &k)
		var ended *stream.Ended
		if !errors.As(err, &ended) || !ended.Over || ended.Final != final || !strings.HasPrefix(ended.Why, "VOD: a recording of 10 s") || loads != 1 || len(k.frames) != 0 {
			t.Errorf("%q: %v (%+v), %d loads, %d frames", tag, err, ended, loads, len(k.frames))
		}
	}
}

// A live playlist that lists a first segment, then all, then has ended.
func TestLivePlaylistThatEnds(t *testing.T) {
	b := fixture(t, "ts", "testdata", "h264-aac.ts")
	half := len(b) / 188 / 2 * 188
	at := serve(t, live{"/live/a.m3u8": []byte(fmt.Sprintf(`#EXTM3U
#EXT-X-TARGETDURATION:0.2
#EXTINF:0.5,
#EXT-X-BYTERANGE:%d@0
a.ts
#EXTINF:0.5,
#EXT-X-BYTERANGE:%d
a.ts
#EXTINF:0.5,
#EXT-X-GAP
gone.ts
#EXT-X-ENDLIST
`, half, len(b)-half)), "/live/a.ts": b})
	var k kept
	wantEnd(t, open(t, context.Background(), at+"/live/a.m3u8", &k))
	// The cut goes through a picture: its bytes in the second file belong to none.
	if n, _, _ := k.of(stream.Video); n < 24 || n > 25 {
		t.Errorf("%d pictures, want 24 or 25", n)
	}
	if k.let != 1 || !strings.HasPrefix(at, "http://"+k.remote) {
		t.Errorf("published %d times, from %s", k.let, k.remote)
	}
	if len(k.gauges[stream.SegmentSlowness]) != 2 || len(k.gauges[stream.PlaylistAge]) == 0 {
		t.Errorf("gauges: %v", k.gauges)
	}
	if k.count(stream.ContinuityErrors)+k.count(stream.SegmentsFailed) != 0 {
		t.Errorf("counts: %v", k.counts)
	}
}

func TestEncryptedSegments(t *testing.T) {
	b := fixture(t, "ts", "testdata", "h264-aac.ts")
	secret := []byte("0123456789abcdef")
	encrypt := func(iv []byte) []byte {
		pad := 16 - len(b)%16
		plain := append(bytes.Clone(b), bytes.Repeat([]byte{byte(pad)}, pad)...)
		block, err := aes.NewCipher(secret)
		if err != nil {
			t.Fatal(err)
		}
		cipher.NewCBCEncrypter(block, iv).CryptBlocks(plain, plain)
		return plain
	}
	bySequence, told := make([]byte, 16), bytes.Repeat([]byte{7}, 16)
	binary.BigEndian.PutUint64(bySequence[8:], 41)
	at := serve(t, live{
		"/seq.m3u8": []byte("#EXTM3U\n#EXT-X-TARGETDURATION:0.2\n#EXT-X-MEDIA-SEQUENCE:41\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n#EXTINF:1,\nseq.ts\n#EXT-X-ENDLIST\n"),
		"/iv.m3u8":  []byte("#EXTM3U\n#EXT-X-TARGETDURATION:0.2\n#EXT-X-KEY:METHOD=AES-128,URI=\"/k\",IV=0x" + hex.EncodeToString(told) + "\n#EXTINF:1,\niv.ts\n#EXT-X-ENDLIST\n"),
		"/k":        secret, "/seq.ts": encrypt(bySequence), "/iv.ts": encrypt(told),
	})
	for _, name := range []string{"/seq.m3u8", "/iv.m3u8"} {
		var k kept
		wantEnd(t, open(t, context.Background(), at+name, &k))
		k.wantPictures(t, 25, 3)
	}
}

// Three frames of AAC as ffmpeg wrote them.
const adts = "fff1508003dffcde02004c61766335392e33372e31303000422008c11838fff1508001bffc21100460 8c1cfff1508001bffc211004608c1c"

func TestPackedAudio(t *testing.T) {
	frames, err := hex.DecodeString(strings.ReplaceAll(adts, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	tag := func(ticks uint64) []byte {
		body := append([]byte(owner), binary.BigEndian.AppendUint64(nil, ticks)...)
		body = append([]byte{'P', 'R', 'I', 'V', 0, 0, 0, byte(len(body)), 0, 0}, body...)
		return append([]byte{'I', 'D', '3', 4, 0, 0, 0, 0, 0, byte(len(body))}, body...)
	}
	at := serve(t, live{
		"/a.m3u8": []byte("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:0.07,\n1.aac\n#EXTINF:0.07,\n2.aac\n#EXT-X-ENDLIST\n"),
		"/1.aac":  append(tag(1<<33-90), frames...), "/2.aac": append(tag(90000), frames...),
	})
	var k kept
	wantEnd(t, open(t, context.Background(), at+"/a.m3u8", &k))
	if n, _, rising := k.of(stream.Audio); n != 6 || !rising {
		t.Fatalf("%d frames, DTS rising %v", n, rising)
	}
	if step := k.frames[3].DTS - k.frames[0].DTS; step < 1_000_999_999 || step > 1_001_000_001 {
		t.Errorf("the second segment begins %d ns after the first, want 1.001 s", step)
	}
	if k.frames[0].Size != 23 || k.params[0].SampleRate != 44100 {
		t.Errorf("%+v, %+v", k.frames[0], k.params)
	}
}

func TestRefusals(t *testing.T) {
	mux := http.NewServeMux()
	asked := map[string]int{}
	// Live at first, then ended: what fails in one that has ended is the end.
	lists := func(w http.ResponseWriter, uri string) {
		fmt.Fprintf(w, "#EXTM3U\n#EXT-X-TARGETDURATION:0.2\n#EXTINF:1,\n%s\n", uri)
		if asked[uri]++; asked[uri] > 1 {
			fmt.Fprintf(w, "#EXTINF:1,\n%s\n#EXT-X-ENDLIST\n", uri)
		}
	}
	mux.HandleFunc("/page.m3u8", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>please log in</html>") })
	mux.HandleFunc("/secret.m3u8", func(w http.ResponseWriter, r *http.Request) {
		if user, pass, _ := r.BasicAuth(); user != "me" || pass != "hidden" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		lists(w, "none.ts")
	})
	mux.HandleFunc("/loop.m3u8", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop.m3u8", http.StatusFound) })
	mux.HandleFunc("/large.m3u8", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "#EXTM3U\n", strings.Repeat("#", maxPlaylist))
	})
	mux.HandleFunc("/file.m3u8", func(w http.ResponseWriter, _ *http.Request) {
		lists(w, "file:///etc/passwd")
	})
	mux.HandleFunc("/hangs.m3u8", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	at := serve(t, mux)
	with := strings.Replace(at, "://", "://me:hidden@", 1)
	for address, want := range map[string]string{
		at + "/none.m3u8?token=hidden":  "server refused: 404 Not Found",
		at + "/page.m3u8":               "a web page",
		at + "/secret.m3u8":             "server refused: 401",
		with + "/secret.m3u8":           "its segments: 404",
		at + "/loop.m3u8":               "redirects",
		at + "/large.m3u8":              "longer than 1048576 bytes",
		at + "/file.m3u8":               `of "file"`,
		"http://127.0.0.1:1/hidden=1":   "nothing listens there",
		"http://nosuch.invalid/a.m3u8":  "is the host's name right",
		"https" + at[4:] + "/page.m3u8": "HTTP response to HTTPS client",
	} {
		err := open(t, context.Background(), address, &kept{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
		if err != nil && (strings.Contains(err.Error(), "hidden@") || strings.Contains(err.Error(), "token=hidden")) {
			t.Errorf("what is secret is shown: %v", err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if err := open(t, ctx, at+"/hangs.m3u8", &kept{}); err != nil {
		t.Errorf("when the context ends: %v", err)
	}
}

func TestAudioThatIsGoneIsSaid(t *testing.T) {
	at := serve(t, files{
		"/a.m3u8": []byte("#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"s\",URI=\"gone.m3u8\"\n#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"s\"\nv.m3u8\n"),
		"/v.m3u8": []byte("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nv.ts\n"),
		"/v.ts":   fixture(t, "ts", "testdata", "h264-aac.ts"),
	})
	ctx, cancel := context.WithTimeout(context.Background(), 800*time.Millisecond)
	defer cancel()
	var k kept
	if err := open(t, ctx, at+"/a.m3u8", &k); err != nil {
		t.Fatal(err)
	}
	k.wantPictures(t, 25, 3)
	if n, _, _ := k.of(stream.Audio); n != 0 {
		t.Errorf("%d frames of audio beside an audio playlist", n)
	}
	if len(k.notes) != 1 || !strings.Contains(k.notes[0], "its audio") || !strings.Contains(k.notes[0], "404") {
		t.Errorf("notes: %q", k.notes)
	}
}

func TestCredentialsGoToTheStreamsHostOnly(t *testing.T) {
	u, err := url.Parse("https://me:hidden@one.example:8443/live/a.m3u8?token=hidden")
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(u, stream.Options{})
	if strings.Contains(c.shown, "hidden") || strings.Contains(c.shown, "me:") {
		t.Errorf("shown as %s", c.shown)
	}
	for uri, want := range map[string]string{
		"s/1.ts":                           "https://me:hidden@one.example:8443/live/s/1.ts",
		"https://one.example:8443/x.ts":    "https://me:hidden@one.example:8443/x.ts",
		"http://one.example:8443/x.ts":     "http://one.example:8443/x.ts",
		"//two.example/x.ts":               "https://two.example/x.ts",
		"https://you:too@two.example/x.ts": "https://two.example/x.ts",
	} {
		if got, err := c.join(u, uri); err != nil || got.String() != want {
			t.Errorf("%s: %v, %v, want %s", uri, got, err, want)
		}
	}
}
