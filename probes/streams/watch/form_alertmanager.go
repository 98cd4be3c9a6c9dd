package watch

import "time"

// standsFor is how long Alertmanager takes a stream for frozen that it hears no more
// of. It is told again after half an hour at the most; where snag ends, the alert does.
const standsFor = time.Hour

// onceStandsFor is the same of what is told only once.
const onceStandsFor = 24 * time.Hour

// alert is a postableAlert of POST /api/v2/alerts. Its labels are the same from the
// freeze to its end: they are how Alertmanager knows it again.
type alert struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	StartsAt    string            `json:"startsAt"`
	EndsAt      string            `json:"endsAt"`
}

func alertmanagerForm(c Call) ([]byte, error) {
	var out []alert
	for i, a := range c.Alarms {
		t := alertOf(a, c.At)
		if i == 0 && c.Held.Alarms > 0 {
			t.Annotations["held_back"] = c.Held.String()
		}
		if i == 0 && c.Lost.Alarms > 0 {
			t.Annotations["undelivered"] = c.Lost.String()
		}
		out = append(out, t)
	}
	return plainJSON(out)
}

func alertOf(a Alarm, now time.Time) alert {
	t := alert{
		Labels:      withValues("alertname", "SnagStreamFault", "stream", a.Stream, "layer", a.Layer, "side", a.side(), "server", a.Server),
		Annotations: withValues("summary", a.sentence(), "description", a.Verdict, "url", a.URL),
		StartsAt:    rfc3339(a.Onset), EndsAt: rfc3339(now.Add(standsFor)),
	}
	if a.once() {
		t.EndsAt = rfc3339(now.Add(onceStandsFor))
	}
	if !a.stands() {
		t.EndsAt = rfc3339(a.Onset.Add(max(a.For, time.Millisecond)))
	}
	if j := a.Judged; j != nil {
		for name, value := range withValues("culprit", j.Culprit, "subject", j.Subject, "proof", j.Proof, "recording", j.Recording) {
			t.Annotations[name] = value
		}
	}
	return t
}

// withValues are the pairs of names and values that have a value.
func withValues(pairs ...string) map[string]string {
	out := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			out[pairs[i]] = pairs[i+1]
		}
	}
	return out
}
