package all

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"snag/lab"
	"snag/recording"
	"snag/report"
	"snag/scene"
	"snag/verdict"
)

// streamsOnly is what a player without rights, or another program's host, has of a
// recording: what its own reader saw of the streams (snag watch --out).
func streamsOnly(r *recording.Recording) *recording.Recording {
	out := &recording.Recording{Manifest: r.Manifest, Streams: r.Streams, StreamHops: r.StreamHops}
	for _, e := range r.Events {
		if e.Subject.Kind == recording.KindStream || e.Subject.Kind == recording.KindObserver {
			out.Events = append(out.Events, e)
		}
	}
	for _, s := range r.Series {
		if strings.HasPrefix(s.Name, "snag_stream_") {
			out.Series = append(out.Series, s)
		}
	}
	for _, c := range r.Coverage {
		if strings.HasPrefix(c.Probe, "streams") {
			out.Coverage = append(out.Coverage, c)
		}
	}
	return out
}

// playersHost is what root on the player's host has: that, and the sockets,
// processes and threads of the player's own namespace.
func playersHost(r *recording.Recording) *recording.Recording {
	out := streamsOnly(r)
	out.Coverage = r.Coverage
	own := map[uint64]bool{}
	for _, st := range r.Streams {
		own[st.Netns] = true
	}
	pids := map[int]bool{r.Manifest.SelfPID: true}
	for _, p := range r.Processes {
		if own[p.Netns] || p.PID == r.Manifest.SelfPID {
			pids[p.PID] = true
			out.Processes = append(out.Processes, p)
		}
	}
	for _, k := range r.Sockets {
		if own[k.Netns] {
			out.Sockets = append(out.Sockets, k)
		}
	}
	for _, t := range r.Threads {
		if pids[t.PID] {
			out.Threads = append(out.Threads, t)
		}
	}
	for _, s := range r.Series {
		if s.Name == "snag_probe_late_seconds" {
			out.Series = append(out.Series, s)
		}
	}
	return out
}

// ofStreams are the incidents that stop or slow a stream, and the suspects that can
// be at fault for it.
var (
	ofStreams   = []string{"encoder-stall", "encoder-stall-capture", "encoder-stall-slow", "uplink-throttled", "uplink-blackhole", "server-stall", "server-stall-jvm", "reader-stall"}
	atFault     = []string{"encoder-stall", "uplink-throttled", "uplink-blackhole", "server-stall"}
	playerViews = map[string]func(*recording.Recording) *recording.Recording{"frames": streamsOnly, "host": playersHost}
)

// TestThePlayerAtSeveralPlaces judges incidents in a chain of servers by what a player
// has who reads the stream at each: between which two of them it was first hurt, and
// nobody's name.
func TestThePlayerAtSeveralPlaces(t *testing.T) {
	for name, where := range map[string]struct{ says, next string }{
		"server-stall-layers-sick":           {"between ingest and origin it was held up", "on 10.88.1.1 (ingest): snag find --stream rtmp://10.88.1.3:1935/live/match; on 10.88.1.3 (origin): snag find --stream"},
		"server-stall-layers-distractor":     {"it stopped at ingest already", "on 10.88.1.1 (ingest): snag find --stream rtmp://10.88.1.1:1935/live/match"},
		"uplink-throttled-layers-sick":       {"between origin and edge it was held up", "on 10.88.1.3 (origin): snag find --stream rtmp://10.88.1.4:1935/live/match; on 10.88.1.4 (edge): snag find --stream"},
		"server-stall-layers-healthy":        {},
		"uplink-throttled-layers-healthy":    {},
		"uplink-throttled-layers-distractor": {},
	} {
		r, err := recording.Open(filepath.Join("..", "recordings", name+".snag"))
		if err != nil {
			t.Fatal(err)
		}
		for view, of := range playerViews {
			t.Run(name+"/"+view, func(t *testing.T) {
				j := verdict.Judge(of(r))
				for _, e := range j.With(verdict.Culprit) {
					t.Errorf("%s is named: %s", e.Suspect.Name, e.Text)
				}
				if where.says == "" && (j.Abstained != "" || len(j.Symptoms) > 0) {
					t.Errorf("no client was affected: %q, %+v", j.Abstained, j.Symptoms)
				}
				if !strings.Contains(j.Abstained, where.says) || !strings.HasPrefix(j.Next, where.next) {
					t.Errorf("it says %q, next %q", j.Abstained, j.Next)
				}
			})
		}
	}
}

// TestThePlayerAlone judges real incidents by what a player on another host has of
// them. Who stopped the stream can't be told there: nobody is named, whoever did it
// is not cleared, and the next measurement is one on the host of the URL. An encoder
// that is too slow shows by its frames.
func TestThePlayerAlone(t *testing.T) {
	for _, name := range ofStreams {
		inc, err := lab.Find(Incidents, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range lab.Variants {
			r, err := recording.Open(filepath.Join("..", "recordings", name+"-"+string(v)+".snag"))
			if err != nil {
				t.Fatal(err)
			}
			for view, of := range playerViews {
				t.Run(name+"-"+string(v)+"/"+view, func(t *testing.T) { judgeAlone(t, inc, v, of(r)) })
			}
		}
	}
}

// TestThePlayerAloneAtOtherLevels: what the frames say of stops of 2.5 s, whose end was
// seen, and of 8 s, in which none came at all.
func TestThePlayerAloneAtOtherLevels(t *testing.T) {
	for name, says := range map[string]string{
		"encoder-stall-sick-barely":         "an encoder, a link and a server that stop look alike",
		"encoder-stall-capture-sick-barely": "its frames of that time never came, not even late",
		"encoder-stall-slow-sick-severe":    "20.0 frames came each second",
		"uplink-throttled-sick-barely":      "a link that carries too little and a server that falls behind look alike",
		"uplink-throttled-sick-severe":      "an encoder, a link and a server that stop look alike",
		"server-stall-sick-severe":          "an encoder, a link and a server that stop look alike",
	} {
		r, err := recording.Open(filepath.Join("testdata", name+".snag"))
		if err != nil {
			t.Fatal(err)
		}
		inc, err := lab.Find(Incidents, name[:strings.Index(name, "-sick")])
		if err != nil {
			t.Fatal(err)
		}
		for view, of := range playerViews {
			t.Run(name+"/"+view, func(t *testing.T) {
				judgeAlone(t, inc, lab.Sick, of(r))
				j := verdict.Judge(of(r))
				named := len(j.With(verdict.Culprit)) > 0
				if !named && !strings.Contains(j.Abstained, says) {
					t.Errorf("%q does not say %q", j.Abstained, says)
				}
				if inc.Want.Suspect == "encoder-stall" && view == "host" && !named {
					t.Error("an encoder that is too slow is not named")
				}
			})
		}
	}
}

func judgeAlone(t *testing.T, inc lab.Incident, v lab.Variant, seen *recording.Recording) {
	j := verdict.Judge(seen)
	var text bytes.Buffer
	if err := report.WriteText(&text, j, report.Options{}); err != nil {
		t.Fatal(err)
	}
	wrong := func(what string) { t.Errorf("%s\n%s", what, text.String()) }
	want := inc.WantIn(v)
	slow := want.Suspect == "encoder-stall" // stopped by nobody: it is too slow
	for _, e := range j.With(verdict.Culprit) {
		if !slow || e.Suspect.Name != "encoder-stall" || e.Subject.Kind != recording.KindStream {
			wrong(e.Suspect.Name + " is named, which the player can't know")
		}
	}
	for _, e := range j.With(verdict.Cleared) {
		if (e.Suspect.Name == want.Suspect || e.Suspect.Name == want.Said) && slices.Contains(atFault, e.Suspect.Name) {
			wrong(e.Suspect.Name + " did it and is cleared")
		}
	}
	sick := slices.ContainsFunc(j.Symptoms, func(s scene.Symptom) bool { return s.Subject.Kind == recording.KindStream })
	if suffers := v == lab.Sick && inc.Name != "reader-stall"; sick != suffers && v != lab.Distractor {
		wrong("the stream's symptoms are not those of its player")
	}
	if !sick || len(j.With(verdict.Culprit)) > 0 {
		return
	}
	if !strings.Contains(j.Abstained, "can't tell from here") {
		wrong("it does not say that it can't tell")
	}
	if url := seen.Streams[0].URL; !strings.HasPrefix(j.Next, "on 10.88.2.1: snag find --stream "+url) {
		wrong("the next measurement is not one on the host of " + url)
	}
}
