package jvm

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"
	"unsafe"

	"snag/recording"
)

const (
	measureSafepoints = name + ".safepoints"
	cureSafepoints    = "a JDK whose libjvm has static probes (readelf -n libjvm.so; Debian's, Ubuntu's and Fedora's have); or start the JVM with -Xlog:safepoint:file=safepoints.log"
	// attachListener is the JVM's thread that does what jcmd, jmap and jstack ask for.
	attachListener = "Attach Listener"
)

// pastDeadline makes a read return what is there.
var pastDeadline = time.Unix(1, 0)

func decodeStop(raw []byte) (safepointStop, bool) {
	var s safepointStop
	if len(raw) < int(unsafe.Sizeof(s)) {
		return s, false
	}
	err := binary.Read(bytes.NewReader(raw), binary.NativeEndian, &s)
	return s, err == nil && s.End >= s.Asked
}

// eventOf is a safepoint as an event: from when all threads were asked to stop until
// they ran again.
func eventOf(s safepointStop, anchor recording.Anchor, comm string) recording.Event {
	e := recording.Event{
		T: anchor.FromMonotonic(int64(s.Asked)), End: anchor.FromMonotonic(int64(s.End)), Kind: recording.EventSafepoint,
		Subject: recording.Subject{Kind: recording.KindProcess, PID: int(s.Pid), Comm: comm},
		Value:   float64(s.End-s.Asked) / 1e9, Unit: "s", Attrs: map[string]string{},
	}
	if name := cString(s.Name[:]); name != "" {
		e.Attrs["operation"] = name
	}
	if s.Stopped >= s.Asked && s.Stopped <= s.End {
		e.Attrs["to_safepoint"] = fmt.Sprintf("%.6f", float64(s.Stopped-s.Asked)/1e9)
	}
	switch who := cString(s.Comm[:]); {
	case who == attachListener:
		e.Attrs["asked_by"] = "a command of an operator (jcmd, jmap, jstack or an agent), by the thread " + attachListener
	case who != "":
		e.Attrs["asked_by"] = fmt.Sprintf("thread %s[%d]", who, s.By)
	}
	return e
}

func cString(b []byte) string {
	b, _, _ = bytes.Cut(b, []byte{0})
	for i, c := range b {
		if c < ' ' || c > '~' {
			return string(b[:i]) // no name of an operation has such
		}
	}
	return string(b)
}
