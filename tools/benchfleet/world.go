package main

import (
	"fmt"
	"slices"
	"strings"
)

// A group is a database, two origins that ask it and seven edges that ask an origin.
const (
	groupOf = 10
	origins = 2
	// oneIn so many groups is in trouble: its database holds up all others of it.
	oneIn = 3
	// parties that a host asks without waiting for them: name servers, caches, logs.
	idleParties = 30
)

// The culprit of each database in trouble.
const (
	culprit = "disk-stall"
	subject = "disk vda: 412 ms a write"
)

// world is the fleet: what a real recorder sent, with other labels.
type world struct {
	host, service, dependency []series // of the capture: the host's, one service's, one dependency's
	hosts                     int
	troubled                  func(group int) bool
}

// newWorld takes apart what a recorder sent.
func newWorld(captured []series, hosts int) (*world, error) {
	w := &world{hosts: hosts, troubled: func(group int) bool { return group%oneIn == 0 }}
	var service, dependency string
	for _, s := range captured {
		name := s.get("__name__")
		switch {
		case strings.HasPrefix(name, "snag_incident_"), name == "snag_host_address":
		case strings.HasPrefix(name, "snag_service_"):
			w.service = append(w.service, one(&service, s, "listener")...)
		case strings.HasPrefix(name, "snag_dependency_"):
			w.dependency = append(w.dependency, one(&dependency, s, "server")...)
		default:
			w.host = append(w.host, s)
		}
	}
	if len(w.host) == 0 || len(w.service) == 0 || len(w.dependency) == 0 {
		return nil, fmt.Errorf("the capture has %d series of the host, %d of a service and %d of a dependency: capture it again", len(w.host), len(w.service), len(w.dependency))
	}
	return w, nil
}

// one keeps the series of the first party that comes.
func one(first *string, s series, by string) []series {
	party := s.get("process") + s.get(by) + s.get("netns")
	if *first == "" {
		*first = party
	}
	if party != *first {
		return nil
	}
	return []series{s}
}

// keepThin leaves of the host's own series only what says that its recorder runs.
func (w *world) keepThin() {
	w.host = slices.DeleteFunc(w.host, func(s series) bool { return s.get("__name__") != "snag_record_up" })
}

func (w *world) groups() int { return (w.hosts + groupOf - 1) / groupOf }

// name and address are those of host n; a group's first is its database.
func (w *world) name(n int) string {
	group, place := n/groupOf, n%groupOf
	switch {
	case place == 0:
		return fmt.Sprintf("db-%d", group)
	case place <= origins:
		return fmt.Sprintf("origin-%d-%d", group, place)
	}
	return fmt.Sprintf("edge-%d-%d", group, place)
}

func address(n int) string { return fmt.Sprintf("10.%d.%d.%d", 64+n/62500, n/250%250, n%250+1) }

// upstream is who host n asks, with the port, and the first of a group asks nobody.
func upstream(n int) string {
	first := n - n%groupOf
	switch place := n % groupOf; {
	case place == 0:
		return ""
	case place <= origins:
		return address(first) + ":5432"
	default:
		return fmt.Sprintf("%s:8080", address(first+1+place%origins))
	}
}

// of is what host n sends. The value of a party's counter is what it gains each second.
func (w *world) of(n int) (out []series) {
	name, hard := w.name(n), w.troubled(n/groupOf)
	own := []string{"instance", name, "role", strings.SplitN(name, "-", 2)[0]}
	for _, s := range w.host {
		out = append(out, s.with(s.value, own...))
	}
	out = append(out, gauge("snag_host_address", 1, own, "address", address(n)), gauge("snag_host_address", 1, own, "address", "172.17.0.1"))
	mean := 0.004
	if hard {
		mean = 0.8
	}
	out = append(out, party(w.service, 50, mean*1.02, own, "process", "server", "listener", "0.0.0.0:8080")...)
	for k := range idleParties {
		out = append(out, party(w.dependency, 5, 0.001, own, "process", "server", "server", fmt.Sprintf("10.250.0.%d:53", k+1))...)
	}
	if up := upstream(n); up != "" {
		out = append(out, party(w.dependency, 50, mean, own, "process", "server", "server", up)...)
	}
	if hard {
		out = append(out, w.incident(n, own)...)
	}
	return out
}

// incident is the verdict of a host in trouble: the database's own cause, the address of who is asked, or of one edge
// in two nothing but its symptom.
func (w *world) incident(n int, own []string) []series {
	out := []series{
		gauge("snag_incident_begin_timestamp_seconds", 1795976155, own),
		gauge("snag_incident_symptom", 1, own, "symptom", "request-latency", "subject", "server[812] listening on 0.0.0.0:8080"),
	}
	switch place := n % groupOf; {
	case place == 0:
		out = append(out, gauge("snag_incident_culprit", 1, own, "suspect", culprit, "subject", subject))
	case place <= origins || place%2 == 0:
		out = append(out, gauge("snag_incident_culprit", 1, own, "suspect", "slow-dependency", "subject", "peer "+upstream(n), "beyond", upstream(n)))
	}
	return out
}

func gauge(name string, value float64, own []string, more ...string) series {
	return series{}.with(value, append(append([]string{"__name__", name, "job", "snag"}, own...), more...)...)
}

// party makes a service or a dependency of one that a recorder sent: so many answers per second, each so long.
func party(of []series, rate, mean float64, own []string, labels ...string) (out []series) {
	for _, s := range of {
		v := rate / 100
		switch name := s.get("__name__"); {
		case strings.HasSuffix(name, "_answers_total") && !strings.Contains(name, "failed"):
			v = rate
		case strings.HasSuffix(name, "_answer_seconds_total"):
			v = rate * mean
		}
		out = append(out, s.with(v, append(append([]string{"netns", ""}, own...), labels...)...))
	}
	return out
}
