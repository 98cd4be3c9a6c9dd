package main

import (
	"encoding/json"
	"fmt"
)

// answer is what is checked of snag find --fleet --json.
type answer struct {
	Standing string `json:"standing"`
	Causes   []struct {
		Host    string `json:"host"`
		Suspect string `json:"suspect"`
		Subject string `json:"subject"`
		Victims []struct {
			Host string     `json:"host"`
			Way  []struct{} `json:"way"`
		} `json:"victims"`
	} `json:"causes"`
	Hosts []struct {
		Name  string `json:"name"`
		State string `json:"state"`
	} `json:"hosts"`
}

// check reports what is wrong with an answer: each database in trouble is to be the cause of all of its group and of
// nobody else, and every host is to be listed as affected or ok.
func (w *world) check(out []byte) error {
	var a answer
	if err := json.Unmarshal(out, &a); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	place := map[string]int{}
	for n := range w.hosts {
		place[w.name(n)] = n
	}
	if a.Standing != "culprit" || len(a.Hosts) != w.hosts {
		return fmt.Errorf("the answer is %q of %d hosts, not \"culprit\" of %d", a.Standing, len(a.Hosts), w.hosts)
	}
	for _, h := range a.Hosts {
		n, known := place[h.Name]
		want := "ok"
		if w.troubled(n / groupOf) {
			want = "affected"
		}
		if !known || h.State != want {
			return fmt.Errorf("host %s is %q, not %q", h.Name, h.State, want)
		}
	}
	seen := map[string]bool{}
	for _, c := range a.Causes {
		n, known := place[c.Host]
		if !known || n%groupOf != 0 || !w.troubled(n/groupOf) || c.Suspect != culprit || c.Subject != subject || seen[c.Host] {
			return fmt.Errorf("a cause is %s of %s on %q", c.Suspect, c.Subject, c.Host)
		}
		seen[c.Host] = true
		if len(c.Victims) != min(groupOf, w.hosts-n) {
			return fmt.Errorf("%s holds up %d hosts, not all of its group", c.Host, len(c.Victims))
		}
		for _, v := range c.Victims {
			m := place[v.Host]
			if m/groupOf != n/groupOf || len(v.Way) != steps(m) {
				return fmt.Errorf("%s is led to %s in %d steps", v.Host, c.Host, len(v.Way))
			}
		}
	}
	troubled := 0
	for g := range w.groups() {
		if w.troubled(g) {
			troubled++
		}
	}
	if len(a.Causes) != troubled {
		return fmt.Errorf("%d causes, not %d", len(a.Causes), troubled)
	}
	return nil
}

// steps are those from host n to its database.
func steps(n int) int {
	switch place := n % groupOf; {
	case place == 0:
		return 0
	case place <= origins:
		return 1
	}
	return 2
}
