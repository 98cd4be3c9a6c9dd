// Package baseline holds what snag is compared with: the alarms that people put
// on the same counters. They see the counters of every namespace, as if an agent
// ran in each of them, and are asked of the same recordings.
package baseline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"snag/lab"
	"snag/recording"
)

// alarm is one that went off.
type alarm struct {
	cause   string // of the catalogue, the one that people think of
	subject string // what the alarm's text names
	netns   uint64 // 0: the whole machine
	// over is by how much the threshold was passed, as a factor: the order in which
	// a dashboard would be read.
	over float64
}

// answer accuses by alarms: each cause once, the loudest alarm first.
func answer(alarms []alarm) (lab.Answer, error) {
	slices.SortStableFunc(alarms, func(a, b alarm) int { return cmp.Compare(b.over, a.over) })
	a := lab.Answer{Version: 1}
	for _, al := range alarms {
		if slices.ContainsFunc(a.Verdict, func(e lab.AnswerEntry) bool { return e.Suspect == al.cause }) {
			continue
		}
		ref, err := json.Marshal(recording.Subject{Kind: recording.KindHost, Netns: al.netns})
		if err != nil {
			return a, fmt.Errorf("baseline: %w", err)
		}
		a.Verdict = append(a.Verdict, lab.AnswerEntry{
			Suspect: al.cause, State: "culprit", Subject: lab.Subject(al.subject), Ref: lab.Subject(ref),
		})
	}
	return a, nil
}

// namespaceOf is where a series was counted: its label, else the own namespace.
func namespaceOf(r *recording.Recording, l recording.Labels) uint64 {
	if id, err := strconv.ParseUint(l["netns"], 10, 64); err == nil {
		return id
	}
	return r.Manifest.Netns
}

// describe is what a dashboard shows of a series: the counter, its namespace and
// its device, queue or group.
func describe(r *recording.Recording, s recording.Series) string {
	text := s.Name
	if id := namespaceOf(r, s.Labels); perNamespace(s.Name) && id != 0 {
		text += " of namespace " + nameOf(r, id)
	}
	for _, l := range []string{"device", "kind", "cgroup", "cpu"} {
		if v := s.Labels[l]; v != "" {
			text += " " + l + " " + v
		}
	}
	return text
}

func nameOf(r *recording.Recording, id uint64) string {
	for _, n := range r.Netns {
		if n.ID == id && n.Name != "" {
			return n.Name
		}
	}
	return strconv.FormatUint(id, 10)
}
