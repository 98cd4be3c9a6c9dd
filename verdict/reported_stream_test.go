package verdict

import (
	"strings"
	"testing"
	"time"

	"snag/recording"
	"snag/recording/rectest"
	"snag/scene"
)

func TestWhatIsToldOfAWatchedStream(t *testing.T) {
	c, err := rectest.Parse([]byte(`Two streams, one of which stopped from 10.2 to 15.4.
-- streams --
{"t":1,"name":"live/match","url":"rtmp://10.0.0.2/live/match","protocol":"rtmp","side":"player","netns":1,"local":"10.0.0.9:50000","remote":"10.0.0.2:1935","asked":0.1,"first":0.5}
{"t":1,"name":"live/other.m3u8","url":"http://10.0.0.2/live/other.m3u8","protocol":"hls","side":"player","netns":1,"local":"10.0.0.9:50001","remote":"10.0.0.2:8080","asked":0.1,"first":0.5}
-- events --
{"t":10.2,"end":15.4,"kind":"stream-freeze","subject":{"kind":"stream","name":"live/match"},"attrs":{"side":"player"},"value":5.2,"unit":"s"}
`))
	if err != nil {
		t.Fatal(err)
	}
	s := scene.Build(c.Recording)
	start := s.Window.Start
	for _, x := range []struct {
		text, subject, says string
		onset               time.Duration
	}{
		{"freeze 08:53:32Z stream match", "live/match", "measured: stream-freeze from 08:53:30.200 UTC for 5.2 s", 10200 * time.Millisecond},
		{"freeze 08:53:28Z live/match", "live/match", "measured", 10200 * time.Millisecond}, // two seconds early
		{"freeze 08:53:40Z stream match", "live/match", "saw it healthy", 20 * time.Second},
		{"freeze 08:53:32Z stream other", "live/other.m3u8", "saw it healthy", 12 * time.Second},
		{"rtmp://10.0.0.2/live/match freezes", "live/match", "", 0},
		{"freeze 08:52:00Z stream match", "live/match", "", -80 * time.Second}, // before it was watched
	} {
		got := reported(s, recording.Manifest{}, x.text)
		if got.Subject.Kind != recording.KindStream || got.Subject.Name != x.subject || got.Onset != start.Add(x.onset) || !strings.Contains(got.Text, x.says) {
			t.Errorf("%q: on %s at %v: %s", x.text, got.Subject.Name, got.Onset.Sub(start), got.Text)
		}
		if x.says == "" && strings.Contains(got.Text, "(") {
			t.Errorf("%q says %q", x.text, got.Text)
		}
	}
	if got := reported(s, recording.Manifest{}, "the stream freezes"); got.Subject.Kind != recording.KindHost {
		t.Errorf("no stream is named, and it is on %s", got.Subject.Name)
	}
}
