package host

import (
	"testing"

	"snag/recording"
)

func TestOutcomes(t *testing.T) {
	sent := func(name, from, by string) recording.Event {
		return recording.Event{Kind: recording.EventSignal, Subject: recording.Subject{PID: 7}, Attrs: map[string]string{"signal": name, "from_pid": from, "by": by}}
	}
	for _, x := range []struct {
		what string
		exit recording.Exit
		sent recording.Event
		want outcome
	}{
		{"exit(0)", recording.Exit{}, recording.Event{}, endedWell},
		{"exit(1)", recording.Exit{Status: 1}, recording.Event{}, endedFailed},
		{"kill -9", recording.Exit{Signal: "SIGKILL"}, sent("SIGKILL", "5", ""), endedKilled},
		{"a crash", recording.Exit{Signal: "SIGSEGV"}, sent("SIGSEGV", "7", "kernel"), endedKilled},
		{"SIGTERM, no handler", recording.Exit{Signal: "SIGTERM"}, sent("SIGTERM", "5", ""), endedAsked},
		{"SIGTERM, handled", recording.Exit{}, sent("SIGTERM", "5", ""), endedAsked},
		{"SIGTERM, as a shell tells it", recording.Exit{Status: 143}, recording.Event{}, endedAsked},
		{"SIGTERM, then a status", recording.Exit{Status: 1}, sent("SIGTERM", "5", ""), endedAsked},
		{"gunicorn's worker timeout", recording.Exit{Status: 1}, sent("SIGABRT", "5", ""), endedKilled},
		{"a probe for instructions, by itself", recording.Exit{Status: 1}, sent("SIGILL", "7", "kernel"), endedFailed},
		{"a write to who is gone", recording.Exit{Signal: "SIGPIPE"}, recording.Event{}, endedBereft},
	} {
		if x.exit.PID = 7; outcomeOf(x.exit, x.sent) != x.want {
			t.Errorf("%s: %d, want %d", x.what, outcomeOf(x.exit, x.sent), x.want)
		}
	}
}

// The signal that counts came before the end, lately, and is the one that ended it.
func TestEndingSignal(t *testing.T) {
	at := func(t recording.Time, name, result string) recording.Event {
		return recording.Event{T: t, Kind: recording.EventSignal, Subject: recording.Subject{PID: 7}, Attrs: map[string]string{"signal": name, "result": result}}
	}
	r := &recording.Recording{Events: []recording.Event{
		at(1e9, "SIGTERM", "delivered"), at(20e9, "SIGABRT", "ignored"), at(21e9, "SIGSTOP", "delivered"), at(22e9, "SIGPIPE", "delivered"), at(60e9, "SIGKILL", "delivered"), at(61e9, "SIGABRT", "delivered"),
	}}
	for end, want := range map[recording.Time]string{5e9: "SIGTERM", 25e9: "", 60e9: "SIGKILL", 62e9: "SIGABRT", 80e9: ""} {
		if got := ending(endingSignals(r), recording.Exit{T: end, PID: 7, Status: 1}); got.Attrs["signal"] != want {
			t.Errorf("ended at %d: %q, want %q", end, got.Attrs["signal"], want)
		}
	}
	if got := ending(endingSignals(r), recording.Exit{T: 62e9, PID: 7, Signal: "SIGKILL"}); got.T != 60e9 {
		t.Errorf("%+v, want the one that ended it", got)
	}
	if got := ending(endingSignals(r), recording.Exit{T: 62e9, PID: 8}); got.T != 0 {
		t.Errorf("%+v is another's", got)
	}
}
