package hosts

import (
	"encoding/json"
	"time"
)

// Document is what snag find --fleet --json writes (docs/fleet.md).
type Document struct {
	Version  int       `json:"version"`
	At       time.Time `json:"at"`
	Standing Standing  `json:"standing"`
	Causes   []cause   `json:"causes"`
	Hosts    []host    `json:"hosts"`
	Warnings []string  `json:"warnings"`
	// Unread is what the store did not answer of node_exporter's series.
	Unread []string `json:"node_exporter_unread,omitempty"`
	// Joined is what the hosts that matter recorded, judged together; left out without --recordings.
	Joined *Joined `json:"recordings,omitempty"`
	// Discovery is what --hosts-from lists; left out without it.
	Discovery *listed `json:"discovery,omitempty"`
}

// Joined is what the hosts that matter recorded, judged together.
type Joined struct {
	Hosts   []string        `json:"hosts"`
	Failed  []string        `json:"failed"`
	Verdict json.RawMessage `json:"verdict,omitempty"` // as snag read --json writes it
}

type listed struct {
	Source   string   `json:"source"`
	Hosts    int      `json:"hosts"`
	Missing  []missed `json:"missing"`
	Problems []string `json:"problems"`
}

type missed struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

type cause struct {
	Host    string    `json:"host,omitempty"`
	Suspect string    `json:"suspect,omitempty"`
	Subject string    `json:"subject,omitempty"`
	Server  string    `json:"server,omitempty"`
	Only    bool      `json:"node_exporter_only,omitempty"`
	Since   time.Time `json:"since"`
	Victims []victim  `json:"victims"`
}

type victim struct {
	Host    string `json:"host"`
	Symptom *named `json:"symptom"`
	Way     []step `json:"way"`
}

type step struct {
	From   string  `json:"from"`
	To     string  `json:"to,omitempty"`
	Server string  `json:"server"`
	Behind string  `json:"behind,omitempty"`
	Why    string  `json:"why,omitempty"`
	Rate   float64 `json:"rate"`
	Mean   float64 `json:"mean_seconds"`
	Stream bool    `json:"stream,omitempty"`
	More   int     `json:"more,omitempty"`
	Only   bool    `json:"node_exporter_only,omitempty"`
}

type host struct {
	Name     string    `json:"name"`
	Seen     time.Time `json:"seen,omitzero"`
	State    string    `json:"state"` // affected, ok, paused, gone, node_exporter only
	Since    time.Time `json:"since,omitzero"`
	Ahead    float64   `json:"clock_ahead_seconds,omitempty"`
	Culprits []named   `json:"culprits"`
	Symptoms []named   `json:"symptoms"`
	// Of node_exporter, where no recorder says more.
	Exporter *exported `json:"node_exporter,omitempty"`
}

// exported is what node_exporter shows of a host.
type exported struct {
	Instance string   `json:"instance"`
	Scraped  bool     `json:"scraped"`
	Signs    []sign   `json:"signs"`
	Unread   []string `json:"collectors_not_read"`
}

type sign struct {
	Name    string   `json:"name"`
	Suspect bool     `json:"suspect"`
	Subject string   `json:"subject,omitempty"`
	Value   float64  `json:"value"`
	Usual   *float64 `json:"usual"`
	Unit    string   `json:"unit"`
	Text    string   `json:"text"`
}

type named struct {
	Name    string `json:"name"`
	Subject string `json:"subject"`
	Beyond  string `json:"beyond,omitempty"`
}

// Document is the fleet with its causes as JSON has it. Hosts that were not asked for are left out, but for those with
// node_exporter only that a way ends at.
func (f *Fleet) Document(causes []Cause) Document {
	d := Document{Version: 1, At: f.At, Standing: f.Standing(causes), Causes: []cause{}, Hosts: []host{}, Warnings: append(append([]string{}, f.Warnings...), f.mixed()...), Unread: f.Unread}
	for _, c := range causes {
		out := cause{Host: c.Host, Suspect: c.Suspect, Subject: c.Subject, Server: c.Server, Only: c.Unrecorded, Since: c.Since, Victims: []victim{}}
		for _, v := range c.Victims {
			one := victim{Host: v.Host, Way: []step{}}
			if v.Symptom.Name != "" {
				one.Symptom = &named{Name: v.Symptom.Name, Subject: v.Symptom.Subject}
			}
			for _, s := range v.Way {
				one.Way = append(one.Way, step{s.From, s.To, s.Server, s.Behind, s.Why, s.Rate, s.Mean, s.Stream, s.More, s.Unrecorded})
			}
			out.Victims = append(out.Victims, one)
		}
		d.Causes = append(d.Causes, out)
	}
	ends := endsOf(causes)
	for _, name := range f.names() {
		if h := f.Hosts[name]; h.Chosen || ends[name] {
			d.Hosts = append(d.Hosts, host{h.Name, h.Seen, h.state(), h.Since, h.Ahead.Seconds(), allNamed(h.Culprits), allNamed(h.Symptoms), h.exported()})
		}
	}
	if f.Source != "" {
		d.Discovery = &listed{f.Source, f.Listed, []missed{}, append([]string{}, f.Unlisted...)}
		for _, m := range f.Missing {
			d.Discovery.Missing = append(d.Discovery.Missing, missed(m))
		}
	}
	return d
}

func (h *Host) state() string {
	switch {
	case h.unrecorded() && h.Exporter.Scraped:
		return "node_exporter only"
	case h.Gone:
		return "gone"
	case !h.Recording:
		return "paused"
	case h.Affected():
		return "affected"
	}
	return "ok"
}

func allNamed(all []Named) []named {
	out := []named{}
	for _, n := range all {
		out = append(out, named(n))
	}
	return out
}

func (h *Host) exported() *exported {
	if h.Exporter == nil {
		return nil
	}
	out := &exported{h.Exporter.Instance, h.Exporter.Scraped, []sign{}, append([]string{}, h.Exporter.Unread...)}
	for _, s := range h.Exporter.Signs {
		out.Signs = append(out.Signs, sign(s))
	}
	return out
}
