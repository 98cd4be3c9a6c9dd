package loaded

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	wire "snag/internal/rtmp"
	"snag/load/rtmp"
	"snag/load/rtp"
)

func times(d ...time.Duration) *hdrhistogram.Histogram {
	h := hdrhistogram.New(1, time.Hour.Nanoseconds(), 3)
	for _, v := range d {
		_ = h.RecordValue(v.Nanoseconds())
	}
	return h
}

func jsonOf(t *testing.T, write func(*strings.Builder) error) map[string]any {
	t.Helper()
	var b strings.Builder
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	if err := json.Unmarshal([]byte(b.String()), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func holds(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in:\n%s", part, text)
		}
	}
}

func TestRTP(t *testing.T) {
	r := RTP{&rtp.Result{
		Plan: rtp.Plan{Name: "rtp+udp://h:5004", Senders: 2, Shape: rtp.Shape{Bitrate: 4e6, FPS: 25}}, Took: 10 * time.Second, Frames: 500, Packets: 8000, Bytes: 9_000_000,
		Refused: map[string]int64{"ENOBUFS: the interface's queue was full": 7}, FrameLag: times(time.Millisecond), PacketLag: times(2 * time.Millisecond), Burst: times(),
	}}
	var b strings.Builder
	r.Text(&b)
	holds(t, b.String(), "rtp+udp://h:5004: 2 senders sent 7.2 Mbit/s of 8.0 Mbit/s asked, in 800 packets/s and 50 frames/s", "7 packets refused: ENOBUFS", noAnswer, "each packet late")
	if strings.Contains(b.String(), "packets took") || strings.Contains(b.String(), "NOT AS ASKED") {
		t.Error(b.String())
	}
	j := jsonOf(t, func(b *strings.Builder) error { return r.JSON(b) })
	if j["receiver_reports"] != nil || j["frame_took"] != nil || j["packets"] != 8000.0 || j["frame_late"].(map[string]any)["p50"].(float64) < 0.001 {
		t.Errorf("%v", j)
	}
	r.Reports = &rtp.Reports{N: 20, Senders: 2, Lost: 80, Of: 8000, Jitter: times(3 * time.Millisecond), RoundTrip: times()}
	r.Unsent = 2000
	for range 100 {
		_ = r.PacketLag.RecordValue(1)
	}
	b.Reset()
	r.Text(&b)
	holds(t, b.String(), "20 receiver reports by RTCP on 2 senders: 80 of 8,000 packets lost (1 %), jitter 3 ms", "NOT AS ASKED: 2,000 of 2,101 packets were due and not sent")
	if strings.Contains(b.String(), "round trip") || strings.Contains(b.String(), noAnswer) {
		t.Error(b.String())
	}
}

func TestRTMP(t *testing.T) {
	r := RTMP{&rtmp.Result{
		Plan: rtmp.Plan{Target: wire.Target{Shown: "rtmp://h/live/cam"}, Players: 3, Publishers: 2}, Took: 10 * time.Second,
		Players: []rtmp.Player{
			{FirstFrame: 100 * time.Millisecond, Frames: 250, Rate: 25, Own: 25}, {FirstFrame: 900 * time.Millisecond, Frames: 100, Rate: 10, Own: 25, Freezes: 2, Frozen: 6 * time.Second, Behind: 5 * time.Second},
			{Outcome: "refused: NetStream.Play.Failed"},
		},
		Publishers: []rtmp.Publisher{{Stream: "cam-1", Sent: 400, Bytes: 9000, Behind: 3 * time.Millisecond}, {Stream: "cam-2", Outcome: "the server stopped reading", Sent: 10, Behind: 5 * time.Second}},
		Behind:     times(time.Millisecond), Lag: times(time.Microsecond), Own: times(time.Millisecond),
	}}
	var b strings.Builder
	r.Text(&b)
	holds(t, b.String(), "rtmp://h/live/cam: 2 of 3 players got frames, half within 100 ms, 99 in 100 within 900 ms; 1 of 2 publishers sent to the end, at most 3 ms late then",
		"25.0 frames/s came, of the stream's own 25.0; 1 player got less than 95 % of them", "2 freezes longer than 1 s, at 1 player; the player that waited longest waited 6 s in all",
		"1 player got no frame", "1 player: refused: NetStream.Play.Failed", "1 publisher: the server stopped reading")
	j := jsonOf(t, func(b *strings.Builder) error { return r.JSON(b) })
	players, publishers := j["players"].(map[string]any), j["publishers"].(map[string]any)
	if players["got_frames"] != 2.0 || players["froze"] != 1.0 || publishers["messages"] != 410.0 || j["not_the_servers"] != "" {
		t.Errorf("%v", j)
	}
	r.Players, r.Own = nil, times(300*time.Millisecond)
	b.Reset()
	r.Text(&b)
	holds(t, b.String(), "NOT THE SERVER'S FIGURES: snag itself was 300 ms late")
	if j := jsonOf(t, func(b *strings.Builder) error { return r.JSON(b) }); j["players"] != nil {
		t.Errorf("%v", j["players"])
	}
}
