package recording

// Event is an interval, or an instant (End = Time), with a subject: a reset, a
// SIGPIPE, a stop, a GC pause, a clock step. What happens often is counted in a
// table instead (drops, resets, connections); an event is kept whole.
type Event struct {
	T       Time              `json:"t"`
	End     Time              `json:"end,omitempty"` // 0: still going on when the recording ended
	Kind    string            `json:"kind"`          // one of the Event… constants
	Subject Subject           `json:"subject"`
	Attrs   map[string]string `json:"attrs,omitempty"`
	Value   float64           `json:"value,omitempty"`
	Unit    string            `json:"unit,omitempty"`
}

// Kinds of events.
const (
	EventSignal       = "signal"        // attrs: signal (SIGPIPE, SIGSTOP, SIGCONT, SIGKILL …), from_pid, from_comm (who ran when it was sent), by ("kernel": no process asked for it, as with a fault, or with SIGKILL for want of memory); subject: the process that gets it
	EventClockStep    = "clock-step"    // value: seconds the wall clock was moved against the monotonic one; subject: host
	EventSuspended    = "suspended"     // the machine was suspended; value: seconds; subject: host. The recording's clock, CLOCK_MONOTONIC, stopped meanwhile (T and End are the first look afterwards), or went on from T to End, as it does over a suspend to idle on a machine without cpuidle
	EventNotRecorded  = "not-recorded"  // nothing of the host was recorded from T to End, between two pieces of a ring: the recorder did not run, or the machine was suspended; value: seconds; subject: observer
	EventObserverLate = "observer-late" // value: seconds a probe's tick came late; subject: observer; attrs: probe
	EventProcessGone  = "process-gone"  // a watched process ended
	EventNetnsGone    = "netns-gone"    // a namespace ended
	EventStopped      = "stopped"       // a process was seen in state T from T to End; attrs: running_at (ns, when it was last seen not stopped)
	EventSocketClosed = "socket-closed" // a UDP socket that was bound closed; subject: the socket (netns, proto, local, pid, comm)
	EventGCPause      = "gc-pause"      // a JVM's collector stopped the world from T to End; value: seconds; attrs: collector, cause (as "Allocation Failure", "System.gc()", "Diagnostic Command"); of its own log (source "gc log") also pause (as "Pause Full"), heap_before, heap_after, heap (bytes); one may lie inside another
	// Inside processes and the host; the subject is the process or thread, the
	// control group, the CPU, or the host.
	EventSafepoint  = "safepoint"   // a JVM stood still from T to End; value: seconds, attrs: operation (as G1CollectForAllocation, Deoptimize), to_safepoint (s until all threads had stopped), asked_by (thread, or a command of an operator), source "gc log" where the JVM's own log told it, else its static probes did
	EventAllocStall = "alloc-stall" // one thread waited for the collector from T to End (ZGC); the subject is its process; attrs: collector, thread (its name), stall (as "Allocation Stall"), source "gc log"
	EventThrottled  = "throttled"   // a control group had used its quota from T to End
	EventRunDelay   = "run-delay"   // a thread was ready from T to End and got no CPU; attrs: ran (comm[pid] that ran instead)
	EventLockWait   = "lock-wait"   // a thread waited over 100 ms for a lock; attrs: address, owner, function
	EventBlocked    = "blocked"     // a thread sat over 1 s in one call; attrs: call, fd, name (of the descriptor), begun ("seen", or "before": at T at the latest), idle ("yes": threads without work sit in that call), async ("yes": an operation of io_uring, for which no thread waits); End 0: it still did
	EventReadGap    = "read-gap"    // a thread that read a socket second after second did not from T to End (of 2 whole seconds and more; traces of calls only); value: seconds; attrs: fd, name (of the socket), in (the call in which it sat most of that time), in_fd, in_name
	EventFound      = "found"       // a thread's calls had a text that was looked for (snag read --find), the first at T and the last at End; value: calls; attrs: text, call, fd, name
	EventReclaim    = "reclaim"     // a thread reclaimed memory itself from T to End; attrs: order
	EventCompaction = "compaction"  // a thread compacted memory itself from T to End; attrs: order, status
	// Of streams: the subject is the stream (Name); attrs: layer and side where there
	// are several, url; kind "audio" where the stream has no video; observer_late, the
	// seconds of it that the observer itself was late. What the observer's own
	// lateness or loss explains is an observer-late instead, with attrs probe
	// "streams", stream, instead_of (the kind it would have been).
	EventStreamPublished   = "stream-published"       // the reader was let in and the stream is there
	EventStreamFirstFrame  = "stream-first-frame"     // value: seconds since it was asked for
	EventStreamFreeze      = "stream-freeze"          // no frame from T to End; value: seconds; attrs: threshold, dts_step (s, when it came back), burst (frames that came at once then), pattern (held, skipped, none), pace (DTS against wall until the burst was over), before ("first frame": none came since the reader was let in)
	EventStreamLate        = "stream-late"            // drift over its threshold from T to End; value: the most, seconds
	EventStreamSkipped     = "stream-skipped"         // DTS stepped over 1.5 frame times; value: frames that are missing by it; one per second, attrs: dts_step (the longest), steps (how many, where more than one)
	EventStreamJump        = "stream-jump"            // DTS went back, or on by more than 10 s more than the wall did; value: seconds, the largest of the second's; attrs: steps
	EventStreamSlow        = "stream-slow"            // DTS moved at under 0.95 of the wall's pace from T to End; value: the ratio
	EventStreamRestarted   = "stream-restarted"       // its timestamps begin anew near zero: a new publisher, an encoder that was started again, or a server that counts anew for each reader; attrs: from, to (seconds)
	EventStreamRateFell    = "stream-frame-rate-fell" // fewer frames per second by the timestamps than before, from T to End; value: frames per second, the least over five seconds; attrs: base (what it was)
	EventStreamBitsFell    = "stream-bit-rate-fell"   // as many frames of far fewer bytes, from T to End; value: bits per second, the least over five seconds or a GOP; attrs: base (what it was)
	EventStreamGarbled     = "stream-garbled-picture" // key pictures in which ffmpeg met errors, from T to End; value: how many by then (of snag watch --picture)
	EventStreamBlack       = "stream-black-picture"   // the same, black
	EventStreamPlain       = "stream-plain-picture"   // the same, of one brightness
	EventStreamStill       = "stream-picture-frozen"  // the same, alike
	EventStreamSilentAudio = "stream-silent-audio"    // audio comes and is silent, from T to End; value: how many seconds of it were decoded by then (of snag watch --picture)
	EventStreamChanged     = "stream-changed"         // attrs: what (codec, resolution, rate, channels, audio), from, to; audio to "none": it stays away while the video comes
	EventStreamEnded       = "stream-ended"           // attrs: why
	EventStreamRefused     = "stream-refused"         // the reader was not let in; attrs: why
	EventKernelLog         = "kernel-log"             // attrs: cause (a name of recording/kernellog), line; subject: the process, interface or disk that it names, else the host
	// EventLogLine: lines of a service's log that tell the same of one subject (a
	// stream, a peer, else the process) from T to End; value: how many lines. Attrs:
	// what (published unpublished play stop connect disconnect refused reset
	// broken-pipe closed-early timeout too-many-open-files error http-5xx member-suspect
	// member-failed member-alive member-left, or a word of the user's map), file, host,
	// process, pid, level (info, warning, error).
	EventLogLine = "log-line"
)

// Interval returns the event's span.
func (e Event) Interval() Interval { return Interval{e.T, e.End} }

// StopSignals stop a process that does not handle them (signal(7)).
var StopSignals = map[string]bool{"SIGSTOP": true, "SIGTSTP": true, "SIGTTIN": true, "SIGTTOU": true}
