package page

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// fakeFleet answers as snag serve --fleet does.
type fakeFleet struct {
	looks atomic.Int64
	of    atomic.Pointer[string] // which fleet
	now   atomic.Int64           // s since the epoch
}

func newFakeFleet(t *testing.T, of string) (*fakeFleet, string) {
	t.Helper()
	f, server := fakeFleetServer(of)
	t.Cleanup(server.Close)
	return f, server.URL
}

func fakeFleetServer(of string) (*fakeFleet, *httptest.Server) {
	f := &fakeFleet{}
	f.now.Store(time.Date(2026, 11, 30, 14, 17, 28, 0, time.UTC).Unix())
	f.of.Store(&of)
	return f, httptest.NewServer(f)
}

func (f *fakeFleet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/fleet.json" {
		w.Header().Set("Content-Security-Policy", FleetPolicy())
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(Fleet())
		return
	}
	json.NewEncoder(w).Encode(f.state(*f.of.Load()))
	f.looks.Add(1)
}

type object = map[string]any

func (f *fakeFleet) at(ago time.Duration) string {
	return time.Unix(f.now.Load(), 0).UTC().Add(-ago).Format(time.RFC3339)
}

func (f *fakeFleet) host(name, state string, ago time.Duration) object {
	return object{"name": name, "state": state, "seen": f.at(ago), "culprits": []any{}, "symptoms": []any{}}
}

// cause has victims that wait for a server of its host, as edges wait for their origin.
func (f *fakeFleet) cause(host, suspect, subject, server string, victims ...string) object {
	all := []any{}
	for i, v := range victims {
		way := []any{}
		switch {
		case v == host:
		case i%3 == 2:
			way = append(way, object{"from": v, "to": "lb", "server": "10.90.0.100:80", "rate": 51.1234, "mean_seconds": 0.82}, object{"from": "lb", "to": host, "server": server, "rate": 0, "mean_seconds": 0, "why": "slow-dependency"})
		default:
			way = append(way, object{"from": v, "to": host, "server": server, "rate": 50.04, "mean_seconds": 0.8, "why": "slow-dependency"})
		}
		all = append(all, object{"host": v, "symptom": object{"name": "request-latency", "subject": "nginx[7] listening on 0.0.0.0:80"}, "way": way})
	}
	return object{"host": host, "suspect": suspect, "subject": subject, "since": f.at(5 * time.Minute), "victims": all}
}

// state is what a fleet of a kind answers.
func (f *fakeFleet) state(of string) object {
	d := object{"version": 1, "now": f.at(0), "at": f.at(3 * time.Second), "store": "http://querier.example:9090", "host": "web1", "links": object{}, "warnings": []any{}}
	switch of {
	case "never":
		return object{"now": f.at(0), "store": "http://querier.example:9090", "links": object{}, "standing": "not seen", "failed_since": f.at(time.Minute),
			"failed": "no recorder has sent anything within 1h0m0s before 2026-11-30T14:17:28Z: start snag record --remote-write on the hosts"}
	case "empty":
		d["standing"], d["causes"] = "no host affected", []any{}
		d["hosts"] = []any{f.host("edge-1", "ok", 0), f.host("edge-2", "ok", 0)}
		d["timeline"] = f.timeline(nil, 140, 12)
	case "many":
		f.many(d)
	default:
		f.three(d)
	}
	if of == "failed" {
		d["standing"], d["failed"], d["failed_since"], d["at"] = "not seen", "ask http://querier.example:9090: dial tcp 10.0.0.9:9090: connect: connection refused", f.at(2*time.Minute), f.at(3*time.Minute)
	}
	return d
}

// three causes, twelve hosts of which some are not seen.
func (f *fakeFleet) three(d object) {
	d["standing"] = "culprit"
	d["causes"] = []any{
		f.cause("origin-3", "runtime-pause", "java OriginApp[5166] (netns snaglab-origin-3) <script>window.caught=1</script>", "10.90.0.13:8080", "edge-1", "edge-2", "edge-3", "edge-4", "edge-5", "origin-3"),
		f.cause("db", "disk-stall", "disk vda", "10.90.0.71:5432", "origin-1", "db"),
		object{"server": "192.0.2.7:443", "since": f.at(40 * time.Second), "victims": []any{object{"host": "edge-6", "symptom": nil, "way": []any{object{"from": "edge-6", "server": "192.0.2.7:443", "why": "upstream-refused", "rate": 0, "mean_seconds": 0}}}}},
	}
	hosts := []any{f.host("origin-2", "gone", 21*time.Minute), f.host("players", "paused", 0), f.host("lb", "ok", 0)}
	for _, name := range []string{"edge-1", "edge-2", "edge-3", "edge-4", "edge-5", "edge-6", "origin-1", "origin-3", "db"} {
		hosts = append(hosts, f.host(name, "affected", 0))
	}
	hosts[2].(object)["clock_ahead_seconds"] = 300
	d["hosts"] = hosts
	d["discovery"] = object{"source": "file:/etc/prometheus/targets/*.json", "hosts": 13, "missing": []any{object{"name": "edge-9.example.com", "why": "no recorder on it sends to this store"}}, "problems": []any{}}
	d["links"] = object{"origin-3": "https://10.90.0.13:9849", "edge-1": "https://10.90.0.21:9849", "db": "https://10.90.0.71:9849"}
	d["timeline"] = f.timeline([]any{
		f.row("origin-3", "runtime-pause", "java OriginApp[5166]", 5*time.Minute, 0, 8), f.row("db", "disk-stall", "disk vda", 5*time.Minute, 0, 1),
		f.row("edge-1", "slow-dependency", "peer 10.90.0.13:8080", 5*time.Minute, 0, 3), f.row("edge-2", "", "", 9*time.Hour, 8*time.Hour, 1),
	}, 100, 12)
}

// many is a thousand hosts, of which each tenth has a cause.
func (f *fakeFleet) many(d object) {
	d["standing"] = "culprit"
	var causes, hosts, rows []any
	links := object{}
	for g := range 100 {
		var victims []string
		for i := range 10 {
			name := fmt.Sprintf("edge-%02d-%d.eu-west-1.example.com", g, i)
			victims = append(victims, name)
			hosts = append(hosts, f.host(name, "affected", 0))
			links[name] = "https://" + name + ":9849"
		}
		if g == 0 { // one holds up very many
			for i := range 600 {
				victims = append(victims, fmt.Sprintf("app-%03d.eu-west-1.example.com", i))
			}
		}
		host := fmt.Sprintf("origin-%02d.eu-west-1.example.com", g)
		hosts = append(hosts, f.host(host, "gone", time.Duration(2+g%50)*time.Minute))
		causes = append(causes, f.cause(host, "listen-overflow", fmt.Sprintf("stream-origin.service nginx[%d] listening on 10.80.%d.1:8080", 27516+g, g), fmt.Sprintf("10.80.%d.1:8080", g), victims...))
	}
	for i := range 200 {
		rows = append(rows, f.row(fmt.Sprintf("edge-%02d-%d.eu-west-1.example.com", i/10, i%10), "listen-overflow", "nginx[7]", time.Duration(i)*time.Minute, time.Duration(max(0, i-20))*time.Minute, 1+i%40))
	}
	d["causes"], d["hosts"], d["links"] = causes, hosts, links
	line := f.timeline(rows, 0, 1100)
	line["left"] = 803
	d["timeline"] = line
}

// row has incidents, the last from then to then (0: it goes on), and others two hours apart before.
func (f *fakeFleet) row(host, suspect, subject string, from, to time.Duration, n int) object {
	all := []any{}
	for i := range n {
		before := time.Duration(i) * 2 * time.Hour
		one := object{"start": f.at(from + before), "end": f.at(to + before), "began": f.now.Load() - int64((from + before).Seconds())}
		if to == 0 && i == 0 {
			delete(one, "end")
		}
		all = append(all, one)
	}
	r := object{"host": host, "subject": subject, "incidents": all}
	if suspect != "" {
		r["suspect"] = suspect
	}
	return r
}

// timeline begins where the store has something: at the first steps it has not.
func (f *fakeFleet) timeline(rows []any, nothing, hosts int) object {
	seen, affected := make([]int, 288), make([]int, 288)
	for i := nothing; i < len(seen); i++ {
		seen[i] = hosts
		if len(rows) > 0 && (i > 280 || i%23 == 0) {
			affected[i] = (1 + i%9) * hosts / 12
		}
	}
	if rows == nil {
		rows = []any{}
	}
	return object{"from": f.at(24*time.Hour - 152*time.Second), "to": f.at(3 * time.Second), "step_seconds": 300, "seen": seen, "affected": affected, "rows": rows, "warnings": []any{}}
}

// seen waits until the page shows a fleet of a kind.
func (f *fakeFleet) seen(t *testing.T, c *chrome, url, of string) string {
	t.Helper()
	f.of.Store(&of)
	was := f.looks.Load()
	c.visit(url + "/fleet")
	await(t, "the first look", func() bool { return f.looks.Load() > was })
	var text string
	await(t, "the first answer", func() bool {
		c.eval(`document.querySelector('.answer') ? document.getElementById('page').innerText : ''`, &text)
		return text != ""
	})
	c.settle()
	return text
}

func TestTheFleetsPage(t *testing.T) {
	f, url := newFakeFleet(t, "three")
	c := browser(t)
	for _, width := range []int{1200, 390} {
		for _, theme := range []string{"light", "dark"} {
			c.prefer(theme)
			c.size(width, 900)
			for of, wants := range map[string][]string{
				"three": {"9 OF 12 HOSTS AFFECTED FOR 5 MIN", "runtime-pause on origin-3", "affects 6 hosts, since 14:12:28 UTC", "itself: request-latency", "<script>window.caught=1</script>", "192.0.2.7:443, which is on none of these hosts", "its recorder is paused",
					"sent nothing since 13:56:28 UTC", "edge-9.example.com", "Incidents of the last 24 hours", "before which the store has nothing", "no culprit proved · 05:17:28 UTC, about 60 min", "runtime-pause · 8 times, since 14:12:28 UTC", "its clock is about 5 min", "waits for 10.90.0.13:8080 on origin-3 (50 answers per second, 800 ms each; slow-dependency)"},
				"empty":  {"No host is affected, and all 2 were seen", "No incident was sent."},
				"never":  {"NOT MEASURED", "Nothing is known of the hosts now", "They could not be read: no recorder has sent anything"},
				"failed": {"NOT MEASURED FOR 3 MIN", "connection refused", "What is below is of 14:14:28 UTC: then 9 hosts were affected.", "As it was at 14:14:28 UTC.", "As it was at 14:17:25 UTC. From"},
				"many":   {"1,000 OF 1,100 HOSTS AFFECTED", "listen-overflow on origin-00", "affects 610 hosts", "100 hosts are not seen: they sent nothing lately.", "50 more causes", "606 more hosts", "803 rows", "Show 160 more", "timeline"},
			} {
				all := f.seen(t, c, url, of)
				for _, want := range wants {
					if !strings.Contains(all, want) {
						t.Errorf("%s, %d px: no %q in\n%.3000s", of, width, want, all)
					}
				}
				if of != "empty" && strings.Contains(all, "No host is affected") {
					t.Errorf("%s is said to be well", of)
				}
				var wide float64
				c.eval(`document.documentElement.scrollWidth`, &wide)
				if int(wide) > width {
					t.Errorf("%s: at %d px the page is %g px wide", of, width, wide)
				}
				var poor []string
				c.eval(contrast, &poor)
				for _, p := range poor {
					if !strings.HasPrefix(p, "only ") {
						t.Errorf("%s, %d px, %s: %s", of, width, theme, p)
					}
				}
				for _, complaint := range c.console {
					t.Errorf("%s: %s", of, complaint)
				}
			}
		}
	}
}

// Links lead to the hosts' own pages where there are any; what is opened stays open when new figures come, and the page
// of a thousand hosts is drawn at once.
func TestTheFleetsLinksAndUpdates(t *testing.T) {
	f, url := newFakeFleet(t, "three")
	c := browser(t)
	c.size(1200, 900)
	f.seen(t, c, url, "three")
	var links []string
	c.eval(`[...new Set([...document.querySelectorAll('main a:not(:has(rect))')].map(a => a.getAttribute('href')))].sort()`, &links)
	if got := strings.Join(links, " "); got != "https://10.90.0.13:9849 https://10.90.0.21:9849 https://10.90.0.71:9849" {
		t.Errorf("links: %s", got)
	}
	var bars struct{ Linked, All, Going int }
	c.eval(`({linked: new Set([...document.querySelectorAll('.past a:has(rect)')].map(a => a.getAttribute('href')).filter(a => /^https:\/\/10\.90\.0\.\d+:9849\/incident\/at\/1\d{9}$/.test(a))).size, all: document.querySelectorAll('.past .strip:not(.levels) rect').length, going: document.querySelectorAll('.past .now').length})`, &bars)
	if bars.Linked != 12 || bars.All != 13 || bars.Going != 3 {
		t.Errorf("%+v", bars)
	}
	f.seen(t, c, url, "many")
	c.eval(`(() => { const d = document.querySelector('.cause details'); d.open = true; d.querySelector('summary').focus() })()`, nil)
	c.settle()
	var shown struct {
		Victims, Elements int
		Focus             string
	}
	look := `({victims: document.querySelectorAll('.cause details[open] li').length, elements: document.querySelectorAll('*').length, focus: document.activeElement.textContent})`
	c.eval(look, &shown)
	if shown.Victims != 301 || shown.Elements > 8000 || shown.Focus != "606 more hosts" {
		t.Errorf("%+v", shown)
	}
	f.now.Add(24 * 3600) // each time has its day now: all blocks are drawn again
	was := f.looks.Load()
	await(t, "another look", func() bool { return f.looks.Load() > was })
	await(t, "that what is opened stays", func() bool {
		c.eval(look, &shown)
		return shown.Victims == 301 && shown.Focus == "606 more hosts"
	})
	if all := f.seen(t, c, url, "never"); strings.Contains(all, "listen-overflow") {
		t.Errorf("%.300s", all)
	}
}

// Where snag serve is gone, nobody is said to be well.
func TestTheFleetsPageWithoutItsServer(t *testing.T) {
	f, server := fakeFleetServer("empty")
	c := browser(t)
	c.size(1200, 900)
	if all := f.seen(t, c, server.URL, "empty"); !strings.Contains(all, "No host is affected") {
		t.Errorf("%.300s", all)
	}
	server.Close()
	await(t, "that nobody answers", func() bool {
		var all string
		c.eval(`document.getElementById('page').innerText`, &all)
		return strings.Contains(all, "Is snag serve still running?") && strings.Contains(all, "Nothing is known of the hosts now") && !strings.Contains(all, "No host is affected")
	})
}
