// Package halfopenpeer makes a connection whose other end is gone without a word.
package halfopenpeer

import (
	"regexp"
	"strconv"
	"syscall"
	"time"

	"snag/lab"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "half-open-peer",
	Title: "the host at the other end of a stream is gone without FIN or RST, and the sender waits for it",
	Long:  true,
	Needs: []lab.Tool{lab.IP, {Command: "ss", Package: "iproute2"}},
	Want: lab.Want{
		Suspect:  "half-open-peer",
		Subject:  `publisher.*10\.77\.13\.|10\.77\.13\..*publisher`,
		Symptoms: []string{"stream-freeze"},
	},
	Distractor: "a peer that is there and does not read: its window is shut, and it answers every probe",
	Start:      start,
}

func start(s *lab.Stage, v lab.Variant) error {
	a, b := s.Netns("sender"), s.Netns("receiver")
	path := s.Actor("", "wan-path", "tun-relay", []string{"--a", a + "/wan0/10.77.13.1/24", "--b", b + "/wan0/10.77.13.2/24", "--delay", "10ms"})
	s.AwaitPrinted(path, "ready")
	ingest := []string{"--listen", "10.77.13.2:1935"}
	if v == lab.Distractor {
		ingest = append(ingest, "--rate", "2000", "--rcvbuf", "32768")
	}
	sink := s.Actor(b, "ingest", "tcp-sink", ingest)
	s.AwaitPrinted(sink, "ready")
	// What one stream sends; the less, the less is there to wait.
	rate := lab.At(s, "20000", "200000", "1000000")
	s.Actor(a, "publisher", "tcp-source", []string{"--to", "10.77.13.2:1935", "--rate", rate, "--chunk", "4096", "--congestion", "cubic"})
	s.AwaitGrowth(b, "Tcp", "InSegs", 30)
	switch v {
	case lab.Sick:
		// Power off: nothing more comes or goes, not even a FIN.
		s.Signal(path, syscall.SIGUSR1)
		s.AwaitPrinted(path, "dead")
		s.Stop(sink)
		s.Await("retransmissions to back off", 20*time.Second, func() (bool, error) { n, err := Backoff(s); return n >= 2, err })
	case lab.Distractor:
		s.Await("the window to be shut", 20*time.Second, func() (bool, error) {
			out, err := s.Output(a, "ss", "-Htno", "dst", "10.77.13.2")
			return regexp.MustCompile(`timer:\(persist`).MatchString(out), err
		})
	}
	return s.Err()
}

var backoff = regexp.MustCompile(`backoff:(\d+)`)

// Backoff is how often the sender's retransmission timer has doubled.
func Backoff(s *lab.Stage) (int, error) {
	out, err := s.Output(s.Name("sender"), "ss", "-Htnio", "dst", "10.77.13.2")
	m := backoff.FindStringSubmatch(out)
	if err != nil || m == nil {
		return 0, err
	}
	return strconv.Atoi(m[1])
}
