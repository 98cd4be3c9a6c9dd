package hls

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

const lowLatency = `#EXTM3U
#EXT-X-TARGETDURATION:4
#EXT-X-VERSION:6
#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1.0,CAN-SKIP-UNTIL=12.0
#EXT-X-PART-INF:PART-TARGET=0.33334
#EXT-X-MEDIA-SEQUENCE:266
#EXT-X-MAP:URI="init.mp4",BYTERANGE="720@0"
#EXTINF:4.00008,
fileSequence266.mp4
#EXT-X-DISCONTINUITY
#EXT-X-PART:DURATION=0.33334,URI="filePart267.0.mp4",INDEPENDENT=YES
#EXT-X-PART:DURATION=0.33334,URI="filePart267.1.mp4"
#EXTINF:4.00008,
fileSequence267.mp4
#EXT-X-KEY:METHOD=AES-128,URI="k,1.key",IV=0x000102030405060708090a0b0c0d0e0f
#EXT-X-PART:DURATION=0.33334,URI="all.mp4",BYTERANGE="20000@100"
#EXT-X-PART:DURATION=0.33334,URI="all.mp4",BYTERANGE="23000",GAP=YES
#EXT-X-PRELOAD-HINT:TYPE=PART,URI="filePart268.2.mp4"
#EXT-X-RENDITION-REPORT:URI="../1M/waitForMSN.php",LAST-MSN=268,LAST-PART=1
`

func TestParseMedia(t *testing.T) {
	p, err := parse([]byte("\ufeff" + strings.ReplaceAll(lowLatency, "\n", "\r\n")))
	if err != nil {
		t.Fatal(err)
	}
	if p.hint == nil || p.hint.uri != "filePart268.2.mp4" || p.hint.duration != 0.33334 || p.skipUntil != 12 {
		t.Errorf("hint %+v, %v s may be skipped", p.hint, p.skipUntil)
	}
	if p.master || p.target != 4 || p.sequence != 266 || p.end() != 268 || p.partTarget != 0.33334 || !p.canBlock || p.ended {
		t.Errorf("%+v", p)
	}
	s := p.segments[1]
	if !s.discontinuity || len(s.parts) != 2 || !s.parts[0].begins || s.uri != "fileSequence267.mp4" || s.duration != 4.00008 || s.key != nil {
		t.Errorf("segment 267: %+v", s)
	}
	if want := (piece{uri: "init.mp4", length: 720}); s.init == nil || *s.init != want {
		t.Errorf("map: %+v", s.init)
	}
	want := []piece{
		{uri: "all.mp4", duration: 0.33334, from: 100, length: 20000},
		{uri: "all.mp4", duration: 0.33334, from: 20100, length: 23000, gap: true},
	}
	if fmt.Sprint(p.parts) != fmt.Sprint(want) || p.discPending {
		t.Errorf("parts: %+v, want %+v", p.parts, want)
	}
	if p.key == nil || p.key.uri != "k,1.key" || p.key.iv[15] != 15 || !p.key.has {
		t.Errorf("key: %+v", p.key)
	}
}

// A delta update, rfc8216bis 4.4.5.2, of the playlist above.
const delta = `#EXTM3U
#EXT-X-TARGETDURATION:4
#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=12.0
#EXT-X-MEDIA-SEQUENCE:%d
#EXT-X-SKIP:SKIPPED-SEGMENTS=%s
#EXTINF:4.00008,
fileSequence268.mp4
#EXT-X-PRELOAD-HINT:TYPE=PART,URI="all.mp4",BYTERANGE-START=43100
#EXT-X-PRELOAD-HINT:TYPE=MAP,URI="init2.mp4"
`

func TestParseDeltaUpdate(t *testing.T) {
	before, err := parse([]byte(lowLatency))
	if err != nil {
		t.Fatal(err)
	}
	p, err := parseAfter(fmt.Appendf(nil, delta, 267, "1"), before)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.segments) != 2 || p.segments[0].uri != "fileSequence267.mp4" || p.end() != 269 || p.segments[1].init == nil || p.segments[1].init.uri != "init.mp4" {
		t.Errorf("%+v", p.segments)
	}
	if want := (piece{uri: "all.mp4", from: 43100}); p.hint == nil || *p.hint != want {
		t.Errorf("hint %+v", p.hint)
	}
	for what, text := range map[string][]byte{
		"more than is known":       fmt.Appendf(nil, delta, 266, "3"),
		"what is gone":             fmt.Appendf(nil, delta, 265, "1"),
		"what was never there":     fmt.Appendf(nil, delta, 300, "1"),
		"no number":                fmt.Appendf(nil, delta, 266, "-1"),
		"twice":                    []byte(strings.Replace(fmt.Sprintf(delta, 266, "1"), "#EXTINF", "#EXT-X-SKIP:SKIPPED-SEGMENTS=1\n#EXTINF", 1)),
		"after nothing was listed": nil,
	} {
		old := before
		if text == nil {
			text, old = fmt.Appendf(nil, delta, 266, "1"), nil
		}
		if _, err := parseAfter(text, old); !errors.Is(err, errSkipped) {
			t.Errorf("leaves out %s: %v", what, err)
		}
	}
}

func TestParseMaster(t *testing.T) {
	p, err := parse([]byte(`#EXTM3U
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aac",NAME="Deutsch",URI="de.m3u8"
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aac",NAME="English",DEFAULT=YES,URI="en.m3u8"
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="low",NAME="English",DEFAULT=YES,URI="low.m3u8"
#EXT-X-STREAM-INF:BANDWIDTH=1280000,AUDIO="low",CODECS="avc1.4d401e,mp4a.40.2"
small.m3u8
#EXT-X-STREAM-INF:BANDWIDTH=99999999,CODECS="mp4a.40.2"
sound.m3u8
#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=99999999,URI="iframes.m3u8"
#EXT-X-STREAM-INF:BANDWIDTH=7680000,FRAME-RATE=50.000,AUDIO="aac",CODECS="avc1.4d401e,mp4a.40.2"
large.m3u8
`))
	if err != nil {
		t.Fatal(err)
	}
	v, audio, err := choose(p)
	if err != nil || v.uri != "large.m3u8" || v.fps != 50 || audio == nil || audio.uri != "en.m3u8" {
		t.Errorf("%+v, %+v, %v", v, audio, err)
	}
}

func TestParseFails(t *testing.T) {
	for name, text := range map[string]string{
		"a page":                    "<!DOCTYPE html>\n<title>Login</title>",
		"nothing":                   "",
		"no target and no segments": "#EXTM3U\n",
		"no EXTM3U":                 "#EXTINF:4,\na.ts\n",
		"20001 segments":            "#EXTM3U\n#EXT-X-TARGETDURATION:1\n" + strings.Repeat("#EXTINF:1,\na\n", maxSegments+1),
		"4097 parts of a segment":   "#EXTM3U\n#EXT-X-TARGETDURATION:1\n" + strings.Repeat("#EXT-X-PART:URI=\"a\"\n", maxParts+1),
		"257 variants":              "#EXTM3U\n" + strings.Repeat("#EXT-X-STREAM-INF:BANDWIDTH=1\na\n", maxVariants+1),
		"257 renditions":            "#EXTM3U\n" + strings.Repeat("#EXT-X-MEDIA:TYPE=AUDIO,URI=\"a\"\n", maxVariants+1),
	} {
		_, err := parse([]byte(text))
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		var not *notPlaylist
		if small := len(text) < 100; errors.As(err, &not) != small {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(lowLatency))
	f.Add([]byte("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"a\"\nv.m3u8\n"))
	f.Add([]byte("#EXTM3U\n#EXT-X-TARGETDURATION:nan\n#EXT-X-MEDIA-SEQUENCE:18446744073709551615\n#EXTINF:-1,\n#EXT-X-BYTERANGE:9@9\nx\n"))
	f.Add(fmt.Appendf(nil, delta, 267, "1"))
	before, err := parse([]byte(lowLatency))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := parseAfter(b, before)
		if err != nil {
			return
		}
		if h := p.hint; h != nil && (h.from < 0 || h.length < 0 || h.from+h.length < 0) {
			t.Fatalf("%+v", h)
		}
		if p.end() < p.sequence {
			t.Fatalf("sequence %d, %d segments", p.sequence, len(p.segments))
		}
		for _, s := range p.segments {
			for _, q := range append(s.parts, s.piece) {
				if q.from < 0 || q.length < 0 || q.from+q.length < 0 || !(q.duration >= 0) {
					t.Fatalf("%+v", q)
				}
			}
		}
		for _, q := range p.parts {
			if q.from < 0 || q.length < 0 || q.from+q.length < 0 {
				t.Fatalf("%+v", q)
			}
		}
	})
}
