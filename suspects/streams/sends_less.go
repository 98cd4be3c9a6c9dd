package streams

import (
	"fmt"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var publisherSendsLess = &suspect.Suspect{
	Name:  "publisher-sends-less",
	Title: "the publisher sends less of the stream than before",
	About: "Frames still arrive in time, but without audio, at a lower frame rate, or with so few bytes that the picture is black, frozen or coded far worse. An input of the encoder is gone (a camera, a microphone, a capture card), or its settings were changed. " +
		"A server that drops a part of the stream looks the same to a viewer. The bytes that the server receives tell the two apart.",
	Needs: []suspect.Need{
		{Measure: "streams.figures", Must: true, Why: "what came of the stream, second by second"},
		{Measure: "sockets.diag", Must: true, Why: "what came to the server, and what it passed on"},
		{Measure: "sockets.owner", Must: true, Why: "which process owns these sockets"},
	},
	For: []string{
		"decisive: the server passed on the same share of what it received as before (99 % and 99 %): what is missing was not sent",
		"decisive: the process that sends to the viewer is the source: it receives the stream from no other process",
	},
	Against: []string{
		"decisive: the server passed on a much smaller share of what it received: it drops a part",
		"trap: an encoder that lowers its bit rate on purpose because its uplink is slow: see uplink-throttled",
		"trap: a quiet scene (a slide, a test card) needs few bytes. Only a fall to an eighth is reported, and the picture is not decoded",
	},
	LeadsTo: []suspect.Lead{{To: scene.StreamAudioLost, Lag: 5 * time.Second}, {To: scene.StreamRateFell, Lag: 5 * time.Second}, {To: scene.StreamThin, Lag: 5 * time.Second}},
	Remedy: suspect.Remedy{
		Permanently: "Check the encoder's inputs (camera, microphone, capture card, source file) and settings. Its log shows what changed at that time.",
		Program:     "Report a lost input as an error instead of sending a black or frozen picture.",
	},
	Verified: "frames, sound and bytes are as before",
	Next:     "ffplay URL on the server's host, and the encoder's own log",
	Weigh:    weighSendsLess,
}

const (
	passedAlike = 0.15 // the part that a server passes on may be less by so much
	passedLess  = 0.6  // of the part before: it leaves something out
	fewBytes    = 2    // s in which both ends were read, before and then
)

func weighSendsLess(s *scene.Scene, r *recording.Recording) (out []suspect.Finding) {
	for _, st := range s.Streams {
		for _, sym := range s.Symptoms {
			if scene.IDOf(sym.Subject) != scene.IDOf(st.Subject) {
				continue
			}
			switch sym.Name {
			case scene.StreamAudioLost, scene.StreamRateFell, scene.StreamThin:
				out = append(out, sendsLess(s, st, sym))
			}
		}
	}
	return out
}

// sendsLess is the finding on who sends a stream of which less came.
func sendsLess(s *scene.Scene, st *scene.Stream, sym scene.Symptom) suspect.Finding {
	f := suspect.Finding{Subject: st.Subject, Active: sym.Active, Related: []recording.Subject{st.Subject}, Text: sym.Text,
		Harm: suspect.Harm{Symptom: sym.Name, Amount: sym.Amount, Unit: sym.Unit, Of: s.Window.Length(s.Window.End).Seconds(), Text: sym.Text}}
	unknown := func(why string) suspect.Finding {
		f.Evidence = []suspect.Evidence{{Side: suspect.For, Grade: suspect.Strong, Value: sym.Amount, Unit: "s", Source: source.At("", source.Sample("snag_stream_bytes_total")), Origin: "frames", Text: sym.Text},
			{Side: suspect.Missing, Source: source.Of("ss -tnpi at the ingest"), Text: why}}
		f.Next = fmt.Sprintf("on the server's host: snag find --stream %s; there and here at once: snag watch --layers ingest=URL,here=%s", st.Row.URL, st.Row.URL)
		return f
	}
	if len(st.Way) == 0 || st.Way[0].From == nil || st.Row.Protocol == "hls" || st.Way[0].Datagrams {
		return unknown("the publisher and the bytes that the server receives were not seen: a server that drops a part looks the same")
	}
	last := st.Way[len(st.Way)-1]
	switch {
	case last.From != nil:
		f.Subject = last.From.Subject
	case last.To != nil:
		f.Subject = last.To.Subject
	}
	server := st.Way[0].From
	for _, l := range st.Way {
		for _, k := range []*scene.Socket{l.From, l.To} {
			if k != nil {
				f.Related = append(f.Related, k.Subject)
			}
		}
	}
	if len(st.Way) == 1 {
		if st.Ends != "" {
			return unknown(st.Ends)
		}
		f.Subject = server.Subject
		f.Evidence = []suspect.Evidence{{Side: suspect.For, Grade: suspect.Decisive, Value: sym.Amount, Unit: "s", Source: source.SS("-tnpi", source.BytesReceived), Origin: "the server's sockets", Text: "it is the source of the stream and receives it from no other process: " + sym.Text}}
		return f
	}
	if last.To == nil {
		return unknown("the bytes that the server receives were not seen")
	}
	before := []recording.Interval{{Start: max(server.First().T, last.To.First().T), End: sym.Active[0].Start}}
	was, ok1 := passed(server, last.To, before, s.Window.End)
	now, ok2 := passed(server, last.To, sym.Active, s.Window.End)
	if !ok1 || !ok2 {
		return unknown("the server's sockets were not sampled often enough before and after the change")
	}
	who := last.To.First().Remote
	if last.From != nil && last.From.Owner() != nil {
		who = last.From.Owner().Subject.Name
	}
	text := fmt.Sprintf("%s sent %s/s before and %s/s now; the server passed on %.0f %% before and %.0f %% now", who, units.Bytes(was.came), units.Bytes(now.came), 100*was.share, 100*now.share)
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Decisive, Value: now.share, Unit: "share", Source: source.SS("-tnpi", source.BytesReceived, source.BytesAcked), Origin: "the server's sockets", Text: text}
	switch {
	case now.share >= (1-passedAlike)*was.share: // more, where frames are small: each has a header
		f.Text = who + " sends less: " + sym.Text
	case now.share <= passedLess*was.share:
		e.Side, e.Text = suspect.Against, text+": the server drops a part"
	default:
		return unknown(text + ": it can be either")
	}
	f.Evidence = []suspect.Evidence{e}
	f.Next = "ffplay " + st.Row.URL + ", and the log of " + who
	return f
}

type passedOn struct{ came, share float64 } // B/s; of it what went on to the viewer

// passed is what came to a server of a stream, and the part that it sent on to one viewer.
func passed(out, in *scene.Socket, spans []recording.Interval, end recording.Time) (p passedOn, ok bool) {
	if intervals.Seconds(spans, end) < fewBytes {
		return p, false
	}
	came, seconds := measure.MovedIn(in, spans, end, func(row recording.Socket) float64 { return float64(row.TCP.BytesReceived) })
	went, sent := measure.MovedIn(out, spans, end, measure.SentBytes)
	if came <= 0 || seconds < fewBytes || sent < fewBytes {
		return p, false
	}
	return passedOn{came / seconds, went / sent / (came / seconds)}, true
}
