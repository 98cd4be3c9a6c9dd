package scene

import "snag/recording"

// Names of the symptoms: what a user feels (docs: the catalogue's first section).
const (
	StreamFreeze      = "stream-freeze"
	StreamEnded       = "stream-ended"
	StreamRefused     = "stream-refused"
	StreamAudioLost   = "stream-audio-lost"
	StreamRateFell    = "stream-frame-rate-fell"
	StreamThin        = "stream-bitrate-fell"
	StreamLate        = "stream-late"
	FramesSkipped     = "frames-skipped"
	RequestLatency    = "request-latency"
	ConnectLatency    = "connect-latency"
	DatagramsLost     = "datagrams-lost"
	ConnectionErrors  = "connection-errors"
	ThroughputPlateau = "throughput-plateau"
	CPUBurn           = "cpu-burn"
	LogSilence        = "log-silence"
	FailedAnswers     = "failed-answers"
)

// Meant reports whether a cause that is known to lead to one symptom leads to another, too: what makes
// a stream stand ends it where its server or its reader gives up, and whoever asks for it then is
// refused.
func Meant(lead, symptom string) bool {
	return lead == symptom || lead == StreamFreeze && (symptom == StreamEnded || symptom == StreamRefused)
}

// Symptom is what failed as a user would feel it, before anything is
// suspected.
type Symptom struct {
	Name    string            // one of the constants above, or "reported" for --symptom text
	Subject recording.Subject // who suffers
	Onset   recording.Time
	Active  []recording.Interval // when it was felt; onsets are their starts
	Text    string               // one sentence with its number and unit
	// Amount in Unit: datagrams lost, seconds of stall, connections failed …
	Amount float64
	Unit   string
	// Held is how many requests, connections or viewers it held up at a moment, on average
	// over the window; 0 where nobody can tell.
	Held float64
	// Share of the subject's traffic or time that suffered; 0 where nobody can tell.
	Share float64
	// Slowed: all answers of some seconds take longer than those of others do.
	Slowed bool
	// Reported: the user told it; nothing was measured.
	Reported bool
	// Tried: the experiments of snag eliminate suffered it, not a client.
	Tried bool
	// Inferred: nobody was seen to wait, but whoever asked had to.
	Inferred bool
	// Elsewhere: it is not the target's, which the user named.
	Elsewhere bool
	// Side of a flow on which a freeze was seen: read (data waits unread) or write
	// (none is acknowledged); read too of late answers that are told by data that lies
	// unread. Of other late answers who measured them: serve, the service itself, or call,
	// who asked. "" for other symptoms.
	Side string
}

// MayBe is the share that may have suffered: all, where nobody can tell.
func (s Symptom) MayBe() float64 {
	if s.Share == 0 {
		return 1
	}
	return s.Share
}
