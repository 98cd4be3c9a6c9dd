package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"snag/recorder"
)

// incident are the claims about a real one: a UDP receive buffer that is too small.
func incident(l life) []check {
	return []check{
		{"an incident is in the journal when it begins and when it ends", func() (string, error) {
			err := errors.Join(l.exit("incident-begins", 0), l.exit("incident-ends", 0), l.exit("incidents", 0))
			return line(l.text("journal"), "begins"), err
		}},
		{"it names the process that lost datagrams, and the cause", func() (string, error) { return lostDatagrams(l.text("incidents")) }},
	}
}

// lostDatagrams looks for the incident in the output of snag incidents --json. A machine that is emulated beside
// others may give snag so little time that it names itself, as not to be trusted: that is the right answer then.
func lostDatagrams(listing string) (string, error) {
	for _, text := range strings.Split(listing, "\n") {
		var i recorder.Incident
		if json.Unmarshal([]byte(text), &i) != nil || !strings.Contains(i.Noticed, "packets dropped") {
			continue
		}
		symptom := ""
		for _, s := range i.Symptoms {
			if s.Name == "datagrams-lost" && strings.HasPrefix(s.Subject, "rtp-sink[") {
				symptom = s.Subject + ": " + s.Text
			}
		}
		switch {
		case symptom == "":
		case len(i.Culprits) > 0 && i.Culprits[0].Name == "udp-receive-buffer-full":
			return i.Culprits[0].Text + "; " + symptom, nil
		case len(i.Culprits) > 0 && i.Culprits[0].Name == "observer":
			return "the machine was too slow: " + i.Culprits[0].Text + "; " + symptom, nil
		}
	}
	return "", fmt.Errorf("no incident has it: %s", listing)
}
