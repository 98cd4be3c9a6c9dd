// Package figures turns the frames of one stream into the figures of each second
// and of each GOP, and into events: first frame, freeze, late, skipped, jump, slow, a rate that fell,
// changed, ended, refused. It does no I/O and reads no clock: time comes in with the
// frames and with Tick, so that a trace on paper gives the same answer as a live one.
//
// A Meter is a stream.Sink. The reader's goroutine hands it frames; the watch calls
// Late with its own lateness, then Tick, every 100 to 250 ms, then Events:
//
//	m := figures.New(figures.Options{Name: "live/cam1", Asked: now})
//	go rtmp.Read(ctx, u, m, …)      // then m.End(now, err)
//	for each 100–250 ms {
//		m.Late(now, howLate)             // where the watch's loop ran late
//		if s, whole := m.Tick(now); whole { … }
//		events = m.Events(events[:0])
//	}
//
// # What is decided here
//
// The frames that count for a freeze are the video's; the audio's where the stream
// has no video. Audio that stays away while the video comes is "changed".
//
// Drift is arrival less DTS, over the least of it in the last minute: what a server
// sends at once from its GOP cache only lowers the least, so it is never late.
//
// The usual spacing of frames is the median DTS step of the last minute or two. A
// stream of which one step in twenty is over 1.5 spacings has a variable frame rate,
// and is never accused of skipping.
//
// A bursty transport (Options.Bursty: HLS) brings a segment at once and then
// nothing. Its freeze is judged with the buffer that a player would have: RFC 8216
// 6.3.3 begins playing three target durations before the end of the playlist; the
// picture freezes when the newest DTS has fallen that far behind the wall. The
// target duration is what Options.Target says, else the median of what came with
// the last bursts (for LL-HLS that is a part, whose hold-back is three parts too:
// rfc8216bis 4.4.3.8).
//
// The watch's own lateness is taken out of every gap: what is left must pass the
// threshold. A gap that does not is told in the second's figures (Doubt), not as a
// freeze.
package figures
