package verdict

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"snag/recording"
	"snag/scene"
)

var words = []struct{ word, symptom string }{
	{"5xx", scene.FailedAnswers}, {"http 5", scene.FailedAnswers}, {"error 5", scene.FailedAnswers}, {"bad gateway", scene.FailedAnswers},
	{"freez", scene.StreamFreeze}, {"frozen", scene.StreamFreeze}, {"stall", scene.StreamFreeze},
	{"skip", scene.FramesSkipped}, {"late", scene.StreamLate}, {"slow", scene.RequestLatency},
	{"latency", scene.RequestLatency}, {"p99", scene.RequestLatency}, {"timeout", scene.RequestLatency},
	{"connect", scene.ConnectLatency}, {"lost", scene.DatagramsLost}, {"loss", scene.DatagramsLost},
	{"drop", scene.DatagramsLost}, {"reset", scene.ConnectionErrors}, {"broken pipe", scene.ConnectionErrors},
	{"epipe", scene.ConnectionErrors}, {"refused", scene.ConnectionErrors}, {"error", scene.ConnectionErrors},
	{"throughput", scene.ThroughputPlateau}, {"log", scene.LogSilence},
}

// reports are the symptoms that the user told: each --symptom, or --since alone.
func reports(s *scene.Scene, r *recording.Recording) []scene.Symptom {
	m := r.Manifest
	var out []scene.Symptom
	for _, text := range m.Symptoms {
		out = append(out, reported(s, m, text))
	}
	if m.Since != 0 && len(m.Symptoms) == 0 {
		out = append(out, reported(s, m, ""))
	}
	return out
}

// reported turns what the user said into a symptom: the words tell its kind, the
// time of day or --since when it began, a port, an address or a process of the
// scene who suffers. Where they name nobody it is the whole host's.
func reported(s *scene.Scene, m recording.Manifest, text string) scene.Symptom {
	sym := scene.Symptom{
		Name: Reported, Subject: recording.Subject{Kind: recording.KindHost, Name: "as reported"},
		Onset: s.Window.Start, Text: "reported: " + text, Reported: true,
	}
	t, rest, timed := recording.FindMoment(text, s.Window.End, m.UTCOffset)
	if timed && m.UTCOffset != 0 && !near(t, s.Window) {
		// Perhaps it was read off a log that is in UTC, as snag's own report is.
		if utc, _, _ := recording.FindMoment(text, s.Window.End, 0); near(utc, s.Window) {
			t = utc
		}
	}
	switch {
	case timed:
		sym.Onset = t
		if t > s.Window.End {
			sym.Onset = s.Window.Start
			sym.Text += " (that is after the recording)"
		}
	case m.Since != 0:
		sym.Onset = m.Since
	}
	if text == "" {
		sym.Text = "reported: it began at " + sym.Onset.Wall().Format("15:04:05") + " UTC"
	}
	if name, known := SymptomOf(rest); known {
		sym.Name = name
	}
	if st := streamNamed(s, rest); st != nil {
		sym.Subject = st.Subject
		return withWatched(s, sym, st, timed)
	}
	if sub, ok := named(s, rest); ok {
		sym.Subject = sub
		sym.Subject.Name = s.Name(sub)
	}
	return sym
}

// streamNamed is the watched stream that the words name: by its name, by the last part
// of it, with or without what it ends with, or by its URL. Of several places of one
// stream it is the last: a user sees what comes out.
func streamNamed(s *scene.Scene, text string) *scene.Stream {
	var found *scene.Stream
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t,;()'\"", r) }) {
		word = strings.Trim(word, ".!?")
		for _, st := range s.Streams {
			name := st.Row.Name
			last := name[strings.LastIndexByte(name, '/')+1:]
			stem, _, _ := strings.Cut(last, ".")
			if len(word) > 1 && (word == name || word == last || word == stem || word == st.Row.URL) {
				found = st
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// told is by how much a person's time may lie beside what was measured: a look at a
// clock, a second that was cut off, and what a player holds.
const told = 3 * time.Second

// withWatched joins what a user told of a stream with what was measured of it: where it
// stood still or was late at that time, that is the time, to the millisecond. Where it
// was watched then and was well, that is said.
func withWatched(s *scene.Scene, sym scene.Symptom, st *scene.Stream, timed bool) scene.Symptom {
	if !timed || !s.Window.Covers(sym.Onset) {
		return sym
	}
	for _, seen := range s.Symptoms {
		if scene.IDOf(seen.Subject) != scene.IDOf(st.Subject) {
			continue
		}
		for _, i := range seen.Active {
			if sym.Onset >= i.Start.Add(-told) && sym.Onset <= max(i.End, i.Start).Add(told) {
				sym.Onset, sym.Active = i.Start, []recording.Interval{i}
				sym.Text += fmt.Sprintf(" (measured: %s from %s UTC for %.1f s)", seen.Name, i.Start.Wall().Format("15:04:05.000"), i.Length(s.Window.End).Seconds())
				return sym
			}
		}
	}
	sym.Text += " (it was watched then, and snag's own reader saw it healthy)"
	return sym
}

func near(t recording.Time, w recording.Interval) bool {
	return t >= w.Start.Add(-w.Length(w.End)) && t <= w.End
}

var (
	addressWord = regexp.MustCompile(`^(?:(.*):)?(\d{1,5})$`)
	pidWord     = regexp.MustCompile(`^(?:(.+)\[(\d+)\]|pid=?(\d+))$`)
)

// named finds whom the words name: an address and port, "port N", "pid N", a
// process by its name, a peer by its address. The first that the scene has.
func named(s *scene.Scene, text string) (recording.Subject, bool) {
	all := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t,;()'\"", r) })
	for i, word := range all {
		word = strings.Trim(word, ".!?")
		before := ""
		if i > 0 {
			before = strings.ToLower(all[i-1])
		}
		if m := pidWord.FindStringSubmatch(word); m != nil {
			pid, _ := strconv.Atoi(m[2] + m[3])
			if p := s.Process(pid); p != nil {
				return p.Subject, true
			}
		}
		if m := addressWord.FindStringSubmatch(word); m != nil && (strings.Contains(word, ":") || before == "port" || before == "udp" || before == "tcp") {
			if sub, ok := atPort(s, m[1], m[2]); ok {
				return sub, true
			}
		}
		if pid, err := strconv.Atoi(word); err == nil && (before == "pid" || before == "process") {
			if p := s.Process(pid); p != nil {
				return p.Subject, true
			}
		}
	}
	for _, word := range all {
		word = strings.Trim(word, ".:!?")
		var found *scene.Process
		for _, p := range s.Processes {
			if len(word) > 2 && p.Subject.Comm == word && (found == nil || len(p.Sockets) > len(found.Sockets)) {
				found = p
			}
		}
		if found != nil {
			return found.Subject, true
		}
		for _, k := range s.Sockets {
			if word != "" && recording.Host(k.First().Remote) == word {
				return k.Subject, true
			}
		}
	}
	return recording.Subject{}, false
}

// atPort is what listens or takes datagrams on a port, at any address where none
// is given; else a connection that ends there.
func atPort(s *scene.Scene, host, port string) (recording.Subject, bool) {
	fits := func(address string) bool {
		return recording.Port(address) == port && (host == "" || recording.Host(address) == strings.Trim(host, "[]"))
	}
	var found *scene.Socket
	for _, k := range s.Sockets {
		f := k.First()
		switch {
		case fits(f.Local) && (k.Listening() || f.Proto == "udp"):
			return k.Subject, true
		case host != "" && recording.Port(f.Local) == port && k.Listening() && (recording.Host(f.Local) == "0.0.0.0" || recording.Host(f.Local) == "::"):
			found = k
		case found == nil && (fits(f.Remote) || fits(f.Local)):
			found = k
		}
	}
	if found == nil {
		return recording.Subject{}, false
	}
	return found.Subject, true
}
