package streams

import (
	"fmt"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var encoderStall = &suspect.Suspect{
	Name:  "encoder-stall",
	Title: "the encoder stops, or is too slow",
	About: "The program that makes the stream writes nothing for a while, or less than a second of picture per second: its source is gone, it was stopped, or it has too little CPU time. " +
		"A stopped server, a dead uplink and a stopped player leave the same trace at the player; the encoder's own socket shows it: nothing waits there to be sent.",
	Needs: []suspect.Need{
		{Measure: "streams.figures", Must: true, Why: "when the stream stopped or fell behind its clock"},
		{Measure: "sockets.diag", Must: true, Why: "whether anything waited at the publisher's socket, and at the server's"},
		{Measure: "sockets.owner", Must: true, Why: "which process owns these sockets"},
	},
	For: []string{
		"decisive: the publisher's Send-Q is 0 in all samples and it wrote nothing (0 of 300 kB/s), while the server had read all that came (Recv-Q 0, lastrcv 3.6 s)",
		"decisive: its clock moves 0.8 s a second, and nothing waits on either side",
		"decisive: of a freeze under 2 s, in the one sample inside of it: the last data of both ends is as old as the freeze (tcp_info lastsnd, lastrcv)",
		"decisive: over UDP: where it sends from no datagram was sent, and none came where it is read",
		"strong, twice: it writes the segments of HLS itself, nothing comes to it, and neither its files nor what viewers are given changes",
		"strong, from the player alone: so many frames came each second (20.0, ±0.3 %) though their bytes differed (91 to 103 KiB). Somebody makes or paces them, and no link holds them up. With a clock that moves 0.8 s a second it confirms",
		"weak: the clock stepped by 5.1 s without a burst (a capture clock: the frames were never made), or the frames came in a burst (a file clock)",
	},
	Against: []string{
		"decisive: bytes wait at its socket: the link or the server does not take them, whatever frames it then leaves out",
		"trap: a step of the clock by seconds with frames missing: an encoder skips frames that are not read; look downstream",
		"trap: over UDP from another host: no datagram comes, and that is all; its sender or the way",
		"trap: the burst of a group of pictures at the start is not a stall; the publisher on another host can't be distinguished from its uplink",
	},
	LeadsTo: []suspect.Lead{{To: scene.StreamFreeze, Lag: 2 * time.Second}, {To: scene.StreamLate, Lag: 5 * time.Second}, {To: scene.FramesSkipped, Lag: 2 * time.Second}},
	Remedy: suspect.Remedy{
		Permanently: "CPU time for the encoder, and a source (camera, capture card, file, upstream) that does not stop.",
		Program:     "A faster preset, fewer renditions.",
	},
	Verified: "its clock moves 1.00 s a second, and its socket writes every frame time",
	Next:     "snag find --stream URL on the encoder's host; for an ffmpeg: its own log's speed= (under 1x: too slow)",
	Weigh:    weighEncoderStall,
}

func weighEncoderStall(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	var out []suspect.Finding
	for _, f := range Locate(s, r) {
		switch f.at {
		case atSource:
			out = append(out, f.with(f.onFiles(f.encoder(s)), f.upstream(s, r)))
		case atSlowLink, atDeadLink:
			if f.stream.Way[f.link].Datagrams {
				out = append(out, f.encoderSends(s, "where it sends from, datagrams were sent: "+f.sent.text()))
				continue
			}
			out = append(out, f.encoderSends(s, fmt.Sprintf("up to %s of it waited at its socket (bytes in Send-Q %s): it sends more than is taken", units.Bytes(float64(f.from.most)), f.from.lookedAt())))
		case atServer:
			if !f.holds && !f.web && !f.stream.Way[f.link].Datagrams {
				out = append(out, f.encoderSends(s, fmt.Sprintf("up to %s of it waited unread in the socket buffer of %s (bytes in Recv-Q %s): it sent", units.Bytes(float64(f.to.most)), f.to.name(), f.to.lookedAt())))
			}
		case atUnknown:
			if f.open.upstream {
				who := "the encoder stopped"
				if f.slow {
					who = "the encoder is too slow"
				}
				out = append(out, f.with(f.paced(s, r, f.cantTell(s, r, who)), f.upstream(s, r)))
			}
		}
	}
	return out
}

// encoder is the finding on a source that has nothing to send.
func (f *faulty) encoder(s *scene.Scene) suspect.Finding {
	l := f.stream.Way[f.link]
	switch {
	case l.Datagrams:
		return f.sentNoDatagrams(s)
	case l.From == nil:
		return f.madeNothing(s)
	}
	out := f.finding(s, l.From.Subject)
	who := f.from.name()
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: f.from.written, Unit: "B", Source: source.SS("-tnpi", source.SendQ, source.BytesAcked, source.LastSnd), Origin: "the publisher's socket"}
	if f.slow {
		e.Text = fmt.Sprintf("nothing waited at its socket (bytes in Send-Q %s), and it wrote %s/s", f.from.lookedAt(), units.Bytes(f.from.written/max(f.from.seconds, 1)))
		out.Text = fmt.Sprintf("%s makes %.2f s of %s per second: it is too slow", who, f.ratio, f.stream.Subject.Name)
	} else {
		e.Text = f.from.nothingToSend()
		out.Text = fmt.Sprintf("%s sent nothing of %s for %s", who, f.stream.Subject.Name, units.Lasting(intervals.Seconds(f.spans, s.Window.End)))
	}
	if f.to.seen && f.to.looks > 0 {
		e.Text += "; " + f.to.nothingCame()
		if f.from.looks >= 2 || f.from.seconds > 0 {
			e.Grade = suspect.Decisive
		}
	}
	out.Evidence = append(out.Evidence, e)
	if f.slow {
		out.Evidence = append(out.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: f.ratio, Unit: "ratio", Source: source.At("", source.Sample("snag_stream_media_seconds_total")), Origin: "frames",
			Text: fmt.Sprintf("its clock moved %.2f s a second for %s", f.ratio, units.Lasting(intervals.Seconds(f.spans, s.Window.End)))})
	} else if came, ok := f.frames(); ok {
		out.Evidence = append(out.Evidence, came)
	}
	out.Remedy = sourceOf(who)
	pid := l.From.Subject.PID
	out.Next = fmt.Sprintf("for i in 1 2 3; do head /proc/%d/task/*/{comm,wchan,syscall}; sleep 1; done   # what it waits for", pid)
	return out
}

// sourceOf is what helps a program that makes or sends too little.
func sourceOf(who string) suspect.Remedy {
	return suspect.Remedy{Permanently: fmt.Sprintf("CPU time for %s, and a source that does not stop. Its log shows which of the two (speed= under 1x, or where it stops). See what stopped it, if something did.", who),
		Program: "A faster preset, fewer renditions."}
}

// encoderSends clears the encoder: its bytes wait further on.
func (f *faulty) encoderSends(s *scene.Scene, text string) suspect.Finding {
	out := suspect.Finding{Subject: f.stream.Subject, Text: "the encoder sends", Active: f.spans,
		Evidence: []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Decisive, Value: float64(max(f.from.most, f.to.most)), Unit: "B", Source: source.SS("-tnpi", source.SendQ, source.RecvQ), Origin: "queues", Text: text}}}
	if l := f.stream.Way[f.link]; l.From != nil {
		out.Subject = l.From.Subject
	}
	if !f.slow && f.step >= 1 && f.burst < fewBurst {
		out.Evidence = append(out.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Value: f.step, Unit: "s", Source: source.Of("stream-freeze dts_step", source.Freezes), Origin: "frames",
			Text: fmt.Sprintf("its clock stepped by %s: it skipped frames that were not read", units.Lasting(f.step))})
	}
	return out
}

// serverWaits: the server is here, had read all, and what brings the stream to it
// carried nothing; beyond that nothing was seen.
func (f *faulty) serverWaits() bool {
	return f.link > 0 && f.to.seen && !f.to.waits() && f.from.socket == nil && (f.slow || f.to.cameLittle())
}
