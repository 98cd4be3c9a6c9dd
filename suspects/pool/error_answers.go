package pool

import (
	"fmt"
	"maps"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var errorAnswers = &suspect.Suspect{
	Name:  "error-answers",
	Title: "a service answers with errors",
	About: "The service is there, reads its requests and answers in time, and what it answers is that it could not or would not: a limit is reached, its store is full, a part of it fails. " +
		"Sockets and threads look healthy. It is recognised by the first bytes of the answers, which are compared in the kernel and never kept. Why it fails its own log says, unless another cause is found behind it.",
	Needs: []suspect.Need{
		{Measure: "sockets.turns", Must: true, Why: "how many answers were errors, by their first bytes"},
		{Measure: "sockets.dns", Why: "those of name servers"},
		{Measure: "sockets.queries", Why: "those that a resolver got from the name server that it asks"},
	},
	For: []string{
		"decisive: five answers or more, 1 in 100 (of databases and stores 1 in 20), were errors. These are HTTP's 5xx and 429, SIP's 5xx and 6xx, RTSP's 5xx and 453, errors of Redis, memcached, PostgreSQL and MySQL, closes of AMQP, refusals of MQTT and alerts of TLS. Of FTP, SMTP, NNTP, IMAP, POP3, LDAP, beanstalkd and Kafka they are replies that the service can't (421, 452 and others). Of name servers (1 in 20; 1 in 100 of a resolver that gets errors for half of its own queries) they are SERVFAIL, and what they leave unanswered for 5 s. REFUSED counts where it is nine in ten of all, or half where another refused it: names of others are refused by policy",
		"decisive, of the name server that a resolver asks: the resolver fails its clients, and half as many errors or more came from there, or half of what came: that one is the cause",
		"decisive, of the services of this host that a proxy or an application asks: half as many errors or more came from there: those are the cause",
	},
	Against: []string{
		"trap: what a client asks wrongly (HTTP's other 4xx), MOVED and ASK of Redis, a wrong password, a file or mailbox that is not there, greylisting, a rebalance of Kafka, names that do not exist (NXDOMAIN): the service works",
		"can't tell: whether answers from another host were errors (snag find --fleet, where that host has a recorder). Nor what TLS has encrypted, and the status of HTTP/2 and gRPC, but for RST_STREAM and GOAWAY. Nor an error behind the first bytes of an answer, as those of further partitions of Kafka. Nor replies of FTP, SMTP and NNTP without an enhanced code on connections older than the recording, and what is sent from files or by io_uring",
	},
	LeadsTo: []suspect.Lead{{To: "error-answers", Lag: 2 * time.Second}, {To: scene.FailedAnswers, Lag: 2 * time.Second}, {To: scene.ConnectionErrors, Lag: 5 * time.Second}, {To: "reconnect-storm", Lag: 10 * time.Second}, {To: "peer-reset", Lag: 2 * time.Second}},
	Remedy: suspect.Remedy{
		Permanently: "Its own log says why. Raise the limit that is reached, or give its store room.",
		Program:     "Mend the part that fails.",
	},
	Verified: "its answers are not errors any more",
	Next:     "journalctl -u UNIT --since -5min; or its log file: ls -l /proc/PID/fd | grep log",
	Weigh:    weighErrorAnswers,
}

func weighErrorAnswers(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	failing := map[scene.NodeID]scene.Symptom{}
	for _, sym := range s.Symptoms {
		if sym.Name == scene.FailedAnswers {
			failing[scene.IDOf(sym.Subject)] = sym
		}
	}
	out, from := errorsPassedOn(s, r, failing)
	maps.Copy(from, errorsOfPeers(s, r, failing))
	for _, v := range scene.Services(s, r, "serve") {
		if sym, ok := failing[scene.IDOf(v.Subject)]; ok {
			f := failingService(sym, v)
			if f.Related = from[scene.IDOf(v.Subject)]; f.Related == nil {
				f.NotTo = []string{"error-answers"}
			}
			out = append(out, f)
		}
	}
	return out
}

func failingService(sym scene.Symptom, v *scene.Service) suspect.Finding {
	failed, of, as := v.Failed()
	text := fmt.Sprintf("%s of %s answers (%.0f %%) were errors: %s", units.Count(failed), units.Count(of), 100*failed/of, as)
	f := suspect.Finding{Subject: v.Subject, Active: sym.Active, Text: text,
		Evidence: []suspect.Evidence{{Side: suspect.For, Grade: suspect.Decisive, Value: failed, Unit: "answers", Source: source.FirstBytes, Origin: "answers", Text: text}},
		Harm:     suspect.Harm{Symptom: scene.FailedAnswers, Amount: failed, Of: of, Unit: "answers", Text: text}}
	if pid := v.Subject.PID; pid > 0 {
		f.Next = fmt.Sprintf("journalctl _PID=%d --since -5min; or its log file: ls -l /proc/%d/fd | grep log", pid, pid)
	}
	return f
}
