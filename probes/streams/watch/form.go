package watch

import (
	"bytes"
	"encoding/json"
	"time"
)

// Form writes the body that a call is posted as.
type Form func(Call) ([]byte, error)

// Forms are the bodies that can be chosen, by name.
var Forms = map[string]Form{"snag": snagForm, "alertmanager": alertmanagerForm, "slack": slackForm}

// post is one stream of a body: docs/watch.md.
type post struct {
	Event   string  `json:"event"`
	Stream  string  `json:"stream"`
	Side    string  `json:"side,omitempty"`
	URL     string  `json:"url"`
	Layer   string  `json:"layer,omitempty"`
	Onset   string  `json:"onset"`
	Seconds float64 `json:"seconds"`
	Over    bool    `json:"over,omitempty"`
	Verdict string  `json:"verdict,omitempty"`
	// Of a rate that fell, frames or bits per second.
	Rate       float64 `json:"rate,omitempty"`
	RateBefore float64 `json:"rate_before,omitempty"`
	// By the host's recording.
	Culprit    string   `json:"culprit,omitempty"`
	Subject    string   `json:"subject,omitempty"`
	Confidence *float64 `json:"confidence,omitempty"`
	Recording  string   `json:"recording,omitempty"`
}

func postOf(a Alarm) post {
	p := post{
		Event: a.Event, Stream: a.Stream, Side: a.side(), URL: a.URL, Layer: a.Layer,
		Onset: rfc3339(a.Onset), Seconds: a.For.Seconds(), Over: a.Over, Verdict: a.Verdict,
		Rate: a.Rate, RateBefore: a.RateBefore,
	}
	if j := a.Judged; j != nil {
		p.Culprit, p.Subject, p.Recording = j.Culprit, j.Subject, j.Recording
		if j.Culprit != "" {
			p.Confidence = &j.Confidence
		}
	}
	return p
}

// message is the whole body: the first stream's fields stand beside the list.
type message struct {
	ID string `json:"id"`
	post
	Count   int       `json:"stream_count"`
	Streams []post    `json:"streams"`
	Held    *heldBack `json:"held_back,omitempty"`
	Lost    *heldBack `json:"undelivered,omitempty"`
}

type heldBack struct {
	Alarms  int      `json:"alarms"`
	Streams []string `json:"streams"`
	More    bool     `json:"more_streams,omitempty"`
}

func snagForm(c Call) ([]byte, error) {
	m := message{ID: c.ID, post: postOf(c.Alarms[0]), Count: len(c.Alarms)}
	for _, a := range c.Alarms {
		m.Streams = append(m.Streams, postOf(a))
	}
	m.Held, m.Lost = heldBackOf(c.Held), heldBackOf(c.Lost)
	return plainJSON(m)
}

// heldBackOf is nil where there is nothing.
func heldBackOf(h Held) *heldBack {
	if h.Alarms == 0 {
		return nil
	}
	return &heldBack{h.Alarms, h.Streams, h.More}
}

// plainJSON is JSON in which & < > stand as they are: nobody puts it into a page.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func rfc3339(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
