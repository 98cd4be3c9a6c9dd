package scene

import (
	"slices"
	"testing"
)

func TestStreamNamed(t *testing.T) {
	for address, want := range map[string]string{
		"rtmp://10.0.0.2:1935/live/match":           "match",
		"rtmps://a/live/match?key=…":                "match",
		"rtsp://a:8554/cams/door/":                  "door",
		"http://a:8080/live/match.m3u8":             "match",
		"https://a/hls/live/match/index.m3u8?token": "match",
		"http://a/live/match/chunklist.m3u8":        "match",
		"rtmp://10.0.0.2":                           "",
		"rtmp://10.0.0.2/":                          "",
		":":                                         "",
	} {
		if got := streamNamed(address); got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}

func TestSentTo(t *testing.T) {
	for line, want := range map[string][]string{
		"ffmpeg -re -i a.flv -c copy -f flv rtmp://10.0.0.2/live/match":                                       {"match"},
		"ffmpeg -i rtmp://10.0.0.2/live/match -f flv rtmp://10.0.0.2/live/match_720":                          {"match_720"},
		"ffmpeg -i a -f tee [f=flv:onfail=ignore]rtmp://a/live/x|[f=flv]rtmp://b/live/y":                      {"x", "y"},
		"gst-launch-1.0 -e videotestsrc ! flvmux ! rtmp2sink location=rtmp://a/live/door":                     {"door"},
		"ffmpeg -re -i a -vf drawbox=color=black:t=fill:enable='gte(t,10)' -preset ultra … rtmp://a/live/far": {"far"},
		"sh -c exec-encoder --quiet": nil,
		"obs --url ://":              nil,
	} {
		if got := sentTo(line); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
