package streams

import (
	"fmt"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var serverStall = &suspect.Suspect{
	Name:  "server-stall",
	Title: "the server does not take the stream on",
	About: "A process between the encoder and the player does not read what comes, or reads it and sends nothing: it was stopped, pauses to collect garbage, waits for a slow consumer, has no CPU time. " +
		"The encoder's queue fills and its window shuts; the server's own buffers hide the first second or two of it from the wire, and an encoder then leaves out frames.",
	Needs: []suspect.Need{
		{Measure: "streams.figures", Must: true, Why: "when the stream stopped"},
		{Measure: "sockets.diag", Must: true, Why: "what waited unread in the server's socket buffer, and the publisher's shut window"},
		{Measure: "sockets.owner", Must: true, Why: "which process it is"},
		{Measure: "threads.state", Why: "why: what its threads did"},
	},
	For: []string{
		"decisive: data waited unread in the buffer of its ingest socket in the samples inside (Recv-Q 119 kB), it took none of it, and sent nothing to the player",
		"decisive: it took the stream from the publisher at the usual rate and sent nothing on",
		"decisive: it packs the stream into segments (HLS), data waits unread in the buffer of its ingest socket, and the playlist on disk does not change; strong, twice: it reads the stream and writes none",
		"decisive: it serves the segments, and the viewer's request waits unread in the buffer of its socket; strong, twice: it gives an old playlist while the one on disk is new",
		"strong: the publisher's window was shut (timer persist, rwnd_limited 54 %)",
	},
	Against: []string{
		"decisive: it had read all that came, and nothing came (Recv-Q 0, lastrcv 3.6 s): its publisher or the link",
		"strong, from the player alone: its frames never came, not even late: what a server holds back comes in a burst afterwards",
		"decisive: a web server gave the playlist as it is on disk, and that stopped: who writes it, or what feeds that one",
		"trap: it hides 1.5 s of its stall: the gap on the wire was 3.8 s where the player's was 5.3 s",
		"trap: one consumer's full queue at a server that never blocks: the others flow",
	},
	LeadsTo: []suspect.Lead{{To: scene.StreamFreeze, Lag: 5 * time.Second}, {To: scene.StreamLate, Lag: 5 * time.Second}, {To: scene.FramesSkipped, Lag: 10 * time.Second}, {To: scene.RequestLatency, Lag: 5 * time.Second}, {To: scene.ConnectLatency, Lag: 10 * time.Second}},
	Remedy: suspect.Remedy{
		Permanently: "What stops it is the cause above it in the chain, where there is one.",
		Program:     "Else its threads show what keeps it from reading.",
	},
	Verified: "Recv-Q of its ingest socket is 0 in most samples",
	Next:     "for i in 1 2 3; do head /proc/PID/task/*/{comm,wchan,syscall}; sleep 1; done; ss -tnpi",
	Weigh:    weighServerStall,
}

func weighServerStall(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	var out []suspect.Finding
	for _, f := range Locate(s, r) {
		if web, ok := f.webServed(); ok {
			out = append(out, web)
		}
		switch f.at {
		case atServer:
			if finding, ok := f.server(s); ok {
				out = append(out, f.with(finding, f.downstream(s, r)))
			}
		case atSource, atSlowLink, atDeadLink:
			if l := f.stream.Way[f.link]; l.Datagrams && f.link > 0 {
				out = append(out, suspect.Finding{Subject: f.takes(), Active: f.spans, Text: "the server got nothing",
					Evidence: []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Decisive, Value: f.came.count, Unit: "datagrams", Source: source.SNMP("Udp", "InDatagrams"), Origin: "datagrams", Text: "datagrams that came to it: " + f.came.text()}}})
			}
			if f.to.seen && f.to.looks > 0 {
				out = append(out, suspect.Finding{Subject: f.takes(), Active: f.spans, Text: "the server had read all that came",
					Evidence: []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Decisive, Value: float64(f.to.waiting), Unit: "samples", Source: source.SS("-tnpi", source.RecvQ, source.BytesReceived), Origin: "the ingest socket", Text: f.to.nothingCame()}}})
			}
		case atUnknown:
			switch {
			case f.serverWaits():
				out = append(out, suspect.Finding{Subject: f.takes(), Active: f.spans, Text: "the server had read all that came",
					Evidence: []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Decisive, Value: f.to.received, Unit: "B", Source: source.SS("-tnpi", source.RecvQ, source.BytesReceived, source.LastRcv), Origin: "the ingest socket", Text: f.to.nothingCame()}}})
			case f.open.server:
				who := "the server stopped"
				if f.slow {
					who = "the server falls behind"
				}
				out = append(out, f.with(f.notHeld(f.notByBytes(r, f.cantTell(s, r, who))), f.downstream(s, r)))
			}
		}
	}
	return out
}

// takes is the process that takes the stream off the connection that the fault is
// at, else the socket.
func (f *faulty) takes() recording.Subject {
	l := f.stream.Way[f.link]
	switch {
	case l.Receiver() != nil:
		return l.Receiver().Subject
	case l.To != nil:
		return l.To.Subject
	}
	return f.stream.Subject
}

func (f *faulty) server(s *scene.Scene) (suspect.Finding, bool) {
	if f.web {
		return f.notServing(s), true
	}
	if f.link == 0 { // the player's, and not snag's: see reader-stall
		return suspect.Finding{}, false
	}
	out := f.finding(s, f.takes())
	who := measure.ProgramOf(out.Subject)
	if l := f.stream.Way[f.link]; l.Datagrams || f.holds && f.packs() {
		return f.packer(s, out, l), true
	}
	if f.holds {
		out.Text = fmt.Sprintf("%s took the stream in and sent nothing on: %s", who, f.what(s.Window.End))
		out.Evidence = append(out.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Decisive, Value: f.in.taken, Unit: "B", Source: source.SS("-tnpi", source.BytesReceived, source.BytesAcked), Origin: "both its sockets",
			Text: fmt.Sprintf("it read %s of its publisher in %s and wrote %s to the player (usually %s/s)", units.Bytes(f.in.taken), units.Lasting(f.in.seconds), units.Bytes(f.from.written), units.Bytes(f.from.usualWritten))})
	} else {
		out.Text = fmt.Sprintf("%s did not read what its publisher sent: %s", who, f.what(s.Window.End))
		e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(f.to.most), Unit: "B", Source: source.SS("-tnpi", source.RecvQ, source.BytesReceived), Origin: "the ingest socket",
			Text: fmt.Sprintf("up to %s waited unread in the buffer of its socket with %s, %s", units.Bytes(float64(f.to.most)), f.to.socket.First().Remote, f.to.lookedAt())}
		if f.to.seconds > 0 {
			e.Text += fmt.Sprintf("; it took %s in %s", units.Bytes(f.to.taken), units.Lasting(f.to.seconds))
		}
		sent := f.sentOn(s)
		if f.packs() {
			if v := f.served; !f.slow && f.to.waiting >= 2 && v.stale() {
				e.Grade = suspect.Decisive
				e.Text += ", and " + v.onDisk()
			}
		} else if f.stream.Way[f.link-1].Datagrams {
			if f.to.waiting >= 2 && f.sent.still() {
				e.Grade = suspect.Decisive
				e.Text += "; datagrams sent where it sends from: " + f.sent.text()
			}
		} else if !f.slow && (f.to.waiting >= 2 || sent.aged > 0) && sent.wroteLittle() {
			e.Grade = suspect.Decisive
			e.Text += fmt.Sprintf(" and sent %s on (usually %s/s)", units.Bytes(sent.written), units.Bytes(sent.usualWritten))
		}
		out.Evidence = append(out.Evidence, e)
		if f.from.looks > 0 && (f.from.shut > 0 || f.from.limited >= 0.1) {
			out.Evidence = append(out.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: f.from.limited, Unit: "share", Source: source.SS("-tnpi", source.Word("timer"), source.RwndLimited), Origin: "the publisher's socket",
				Text: fmt.Sprintf("%s wanted to send and the window was shut: timer persist in %d of %d samples, rwnd_limited %.0f %%, up to %s waiting", f.from.name(), f.from.shut, f.from.looks, 100*f.from.limited, units.Bytes(float64(f.from.most)))})
		}
	}
	if came, ok := f.frames(); ok {
		out.Evidence = append(out.Evidence, came)
	}
	pid := out.Subject.PID
	out.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("What keeps %s from reading is above it in the chain, where one is printed.", who), Program: "Else its threads show what it does instead."}
	out.Next = fmt.Sprintf("for i in 1 2 3; do head /proc/%d/task/*/{comm,wchan,syscall}; sleep 1; done   # what %s does instead", pid, measure.OrProgram(out.Subject.Comm))
	return out, true
}

// packer is the finding on a process that takes the stream in and writes no files.
func (f *faulty) packer(s *scene.Scene, out suspect.Finding, l scene.Link) suspect.Finding {
	who := measure.ProgramOf(out.Subject)
	out.Text = fmt.Sprintf("%s took the stream in and wrote no segment: %s", who, f.what(s.Window.End))
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: f.in.taken, Unit: "B", Source: source.SS("-tnpi", source.BytesReceived, source.RecvQ), Origin: "the ingest socket",
		Text: fmt.Sprintf("it read %s of its publisher in %s (usually %s/s)", units.Bytes(f.in.taken), units.Lasting(f.in.seconds), units.Bytes(f.in.usualReceived))}
	switch {
	case l.Datagrams && f.holds:
		e.Value, e.Unit, e.Source, e.Text = f.came.count, "datagrams", source.SNMP("Udp", "InDatagrams"), "datagrams came to it: "+f.came.text()
	case l.Datagrams:
		out.Text = fmt.Sprintf("%s did not read what was sent to it: %s", who, f.what(s.Window.End))
		e.Source, e.Text = source.SS("-uamnp", source.RecvQ, source.SocketDrops), f.left
	}
	out.Evidence = append(out.Evidence, e)
	if v := f.served; v.stale() {
		out.Evidence = append(out.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: v.still, Unit: "s", Source: source.Of("table stream_files").And(source.Of("stat")), Origin: "files", Text: v.onDisk()})
	}
	out.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("What keeps %s from it is above it in the chain, where one is printed, or the disk that it writes to.", who), Program: "Else its threads show what it does instead."}
	out.Next = fmt.Sprintf("for i in 1 2 3; do head /proc/%d/task/*/{comm,wchan,syscall}; sleep 1; done", out.Subject.PID)
	return out
}

// sentOn is what the server sent towards the player meanwhile.
func (f *faulty) sentOn(s *scene.Scene) reading {
	return readEnd(f.stream.Way[f.link-1].From, sends, f.spans, s.Window)
}
