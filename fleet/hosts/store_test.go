package hosts

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"snag/fleet/exporter/exportertest"
	"snag/fleet/prom"
)

var now = time.Date(2026, 11, 30, 14, 17, 28, 0, time.UTC)

// store has series as name{labels} value, and answers the queries of Read by their names.
type store struct {
	all      []prom.Sample
	asked    []string
	warnings []string
	err      error
	ahead    map[string]time.Duration // of hosts with a wrong clock
	exporter exportertest.Store
}

func (s *store) add(name, instance string, value float64, labels ...string) {
	l := map[string]string{"__name__": name, "instance": instance}
	for i := 0; i+1 < len(labels); i += 2 {
		l[labels[i]] = labels[i+1]
	}
	s.all = append(s.all, prom.Sample{Labels: l, Value: value, At: now})
}

var addressed = regexp.MustCompile(`(\d+(\.\d+){3}|\[[0-9a-f:]+\]):\d+`)

// host adds a recorder that sent its last value so long ago.
func (s *store) host(name, role, address string, ago time.Duration) {
	s.add("seen", name, float64(now.Add(-ago).UnixMilli())/1000)
	if ago < quiet {
		s.add("snag_record_up", name, 1)
	}
	s.add("chosen", name, 1, "role", role)
	if address != "" {
		s.add("snag_host_address", name, 1, "address", address)
	}
}

func (s *store) incident(name, suspect, subject, symptom string) {
	s.add("snag_incident_begin_timestamp_seconds", name, float64(now.Add(-5*time.Minute).Unix()))
	if suspect != "" {
		beyond := ""
		if suspect != "runtime-pause" && !slices.Contains(lost, suspect) && name != "encoder" { // as a recorder says it
			beyond = addressed.FindString(subject)
		}
		s.add("snag_incident_culprit", name, 1, "suspect", suspect, "subject", subject, "beyond", beyond)
	}
	if symptom != "" {
		s.add("snag_incident_symptom", name, 1, "symptom", symptom, "subject", "nginx[7] listening on 0.0.0.0:80")
	}
}

func (s *store) calls(name, server string, rate, each float64) {
	s.add("rate answers", name, rate, "process", "nginx", "server", server)
	s.add("rate seconds", name, rate*each, "process", "nginx", "server", server)
}

func (s *store) serves(name, listener string, rate, each float64) {
	s.add("rate answers", name, rate, "process", "nginx", "listener", listener)
	s.add("rate seconds", name, rate*each, "process", "nginx", "listener", listener)
}

// Query answers the queries of Read. Of a series that is older than five minutes a store has no value now.
func (s *store) Query(ctx context.Context, q string, at time.Time) (a prom.Answer, err error) {
	if s.err != nil {
		return a, s.err
	}
	s.asked = append(s.asked, q)
	if strings.Contains(q, "node_") {
		return s.exporter.Query(ctx, q, at)
	}
	a.Warnings = s.warnings
	served, matches := s.served(), matchers(q)
	for _, x := range s.all {
		age := at.Sub(now.Add(s.ahead[x.Labels["instance"]])) // by the host's clock it was sent now
		if age < 0 || age > 5*time.Minute && !strings.Contains(q, "_over_time") {
			continue
		}
		if wanted(q, x, served) && matches(x.Labels) {
			if strings.Contains(q, "/ on (instance)") {
				x.Value /= served[x.Labels["instance"]]
			}
			a.Samples = append(a.Samples, x)
		}
	}
	return a, nil
}

// wanted reports whether a query is for a sample, apart from its matchers.
func wanted(q string, x prom.Sample, served map[string]float64) bool {
	name, l := x.Labels["__name__"], x.Labels
	switch {
	case strings.Contains(q, "snag_clock_ahead_seconds"):
		return name == "snag_clock_ahead_seconds" && math.Abs(x.Value) > 10
	case strings.Contains(q, "max_over_time(timestamp(snag_record_up"):
		return name == "seen"
	case strings.Contains(q, "timestamp(snag_record_up"):
		return name == "seen" && now.Sub(time.UnixMilli(int64(1000*x.Value))) < 5*time.Minute
	case strings.Contains(q, "last_over_time"):
		return name == "chosen" && (!strings.Contains(q, `role="edge"`) || l["role"] == "edge")
	case strings.Contains(q, "snag_service_failed_answers_total"):
		return name == "rate failed"
	case strings.Contains(q, "(snag_stream_received_bytes_total"):
		return name == "snag_stream_received_bytes_total"
	case strings.Contains(q, "/ on (instance)"):
		sum := served[l["instance"]]
		return name == "rate seconds" && l["server"] != "" && sum > 0 && x.Value >= leastShare*sum
	case strings.Contains(q, "rate(snag_dependency_answers_total"):
		return name == "rate answers" && l["server"] != ""
	case strings.Contains(q, "rate(snag_dependency_answer_seconds_total"):
		return name == "rate seconds" && l["server"] != ""
	case strings.HasPrefix(q, "{__name__"):
		return strings.Contains(q, name)
	case strings.Contains(q, " or "):
		first, second, _ := strings.Cut(q, " or ")
		return strings.HasPrefix(first, name) || strings.HasPrefix(second, name)
	}
	return strings.HasPrefix(q, name)
}

// served is the time of all answers of each host in a second.
func (s *store) served() map[string]float64 {
	sum := map[string]float64{}
	for _, x := range s.all {
		if x.Labels["__name__"] == "rate seconds" && x.Labels["listener"] != "" {
			sum[x.Labels["instance"]] += x.Value
		}
	}
	return sum
}

var matcher = regexp.MustCompile(`(instance|server|address)=~("(?:[^"\\]|\\.)*")`)

// matchers are those of a query.
func matchers(q string) func(l map[string]string) bool {
	var names []string
	var all []*regexp.Regexp
	for _, m := range matcher.FindAllStringSubmatch(q, -1) {
		text, err := strconv.Unquote(m[2])
		if err != nil {
			panic(err)
		}
		names, all = append(names, m[1]), append(all, regexp.MustCompile("^(?:"+text+")$"))
	}
	return func(l map[string]string) bool {
		for i, one := range all {
			if _, has := l[names[i]]; strings.Contains(q, " or ") && !has {
				continue
			}
			if !one.MatchString(l[names[i]]) {
				return false
			}
		}
		return true
	}
}

func told(t *testing.T, s *store, chosen string) (string, []Cause, *Fleet) {
	t.Helper()
	f, err := Read(t.Context(), s, chosen, now)
	if err != nil {
		t.Fatal(err)
	}
	causes := f.Causes()
	var out strings.Builder
	if err := f.WriteText(&out, "http://p:9090", causes); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 110 {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
	t.Log("\n" + out.String())
	return out.String(), causes, f
}

// storm is the first story: edges storm an origin, whose JVM stops.
func storm() *store {
	s := &store{}
	s.host("origin-3", "origin", "10.0.0.3", 5*time.Second)
	s.incident("origin-3", "runtime-pause", "java[77]", "request-latency")
	s.serves("origin-3", "0.0.0.0:8080", 300, 0.8)
	for i := range 6 {
		name := fmt.Sprintf("edge-%d", i+1)
		s.host(name, "edge", fmt.Sprintf("10.0.1.%d", i+1), 5*time.Second)
		if i%2 == 0 {
			s.incident(name, "slow-dependency", "peer 10.0.0.3:8080 (netns 7)", "request-latency")
		} else { // its own verdict names nobody
			s.incident(name, "", "", "request-latency")
		}
		s.serves(name, "0.0.0.0:80", 50, 0.82)
		s.calls(name, "10.0.0.3:8080", 50, 0.8)
		s.calls(name, "10.0.0.9:53", 1, 0.001)
	}
	s.host("player-1", "player", "10.0.2.1", time.Second)
	return s
}
