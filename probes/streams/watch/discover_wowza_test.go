package watch

import (
	"context"
	"crypto/md5"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// wowza is a Wowza Streaming Engine as its description has it (testdata/discover/wowza-*:
// each field that ApplicationsConfig, InstancesConfig and IncomingStreamConfig require).
// It asks for the user me with the password "s3 cret", in the way that auth says.
type wowza struct {
	auth string // none, basic, digest

	mu      sync.Mutex
	nonce   int
	counts  map[string]bool // of the nonce, those that were used
	seen    []string        // credentials, as they came
	refused int
	answers map[string]func(http.ResponseWriter)
}

var inDigest = regexp.MustCompile(`(\w+)="?([^",]*)"?`)

func (s *wowza) allows(r *http.Request) bool {
	got := r.Header.Get("Authorization")
	if got != "" {
		s.seen = append(s.seen, got)
	}
	switch s.auth {
	case "none":
		return true
	case "basic":
		user, password, ok := r.BasicAuth()
		return ok && user == "me" && password == "s3 cret"
	}
	p := map[string]string{}
	for _, m := range inDigest.FindAllStringSubmatch(strings.TrimPrefix(got, "Digest "), -1) {
		p[m[1]] = m[2]
	}
	sum := func(parts ...string) string { return fmt.Sprintf("%x", md5.Sum([]byte(strings.Join(parts, ":")))) }
	want := sum(sum("me", "Wowza", "s3 cret"), p["nonce"], p["nc"], p["cnonce"], "auth", sum("GET", r.URL.RequestURI()))
	if p["nonce"] != fmt.Sprint("n", s.nonce) || p["uri"] != r.URL.RequestURI() || p["response"] != want || s.counts[p["nc"]] {
		return false
	}
	s.counts[p["nc"]] = true
	return true
}

func (s *wowza) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.allows(r) {
		s.nonce, s.counts = s.nonce+1, map[string]bool{}
		s.refused++
		offer := map[string]string{"basic": `Basic realm="Wowza"`, "digest": fmt.Sprintf(`Digest realm="Wowza", nonce="n%d", algorithm="MD5", qop="auth"`, s.nonce)}
		w.Header().Set("WWW-Authenticate", offer[s.auth])
		http.Error(w, `{"success":false,"message":"The request requires user authentication","code":"401"}`, http.StatusUnauthorized)
		return
	}
	if !strings.Contains(r.Header.Get("Accept"), "application/json") {
		http.Error(w, "<Applications/>", http.StatusOK) // its default is XML
		return
	}
	if answer := s.answers[r.URL.Path]; answer != nil {
		answer(w)
		return
	}
	http.NotFound(w, r)
}

func newWowza(t *testing.T, auth string) (*wowza, string) {
	t.Helper()
	s := &wowza{auth: auth, answers: map[string]func(http.ResponseWriter){}}
	for path, file := range map[string]string{"": "wowza-applications.json", "/live/instances": "wowza-live.json", "/stage 1/instances": "wowza-stage.json"} {
		body := answer(t, file)
		s.answers[wowzaPath+path] = func(w http.ResponseWriter) { w.Write(body) }
	}
	s.answers[wowzaPath+"/vod/instances"] = func(w http.ResponseWriter) {
		fmt.Fprint(w, `{"serverName":"_defaultServer_","version":"1","instanceList":[]}`)
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, server.URL
}

func urls(entries []Entry) []string {
	var out []string
	for _, e := range entries {
		out = append(out, e.URL.String())
	}
	slices.Sort(out)
	return out
}

func TestDiscoverWowza(t *testing.T) {
	all := []string{"rtmp://127.0.0.1:1935/live/cam1", "rtmp://127.0.0.1:1935/live/hall/cam1", "rtmp://127.0.0.1:1935/stage%201/main_720p"}
	for _, c := range []struct {
		auth, path string
		want       []string
	}{
		{"none", "", all},
		{"basic", "/", all},
		{"digest", "", all},
		{"digest", wowzaPath + "/live", all[:2]},
		{"none", wowzaPath + "/stage%201/instances url=http://{host}:1935/{app}/{instance}/{stream}/playlist.m3u8", []string{"http://127.0.0.1:1935/stage%201/_definst_/main_720p/playlist.m3u8"}},
	} {
		s, url := newWowza(t, c.auth)
		d, err := ParseDiscovery("wowza:" + strings.Replace(url, "//", "//me:s3%20cret@", 1) + c.path)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time the nonce is known
			entries, problems, err := d.Ask(context.Background())
			if got := urls(entries); err != nil || len(problems) > 0 || !slices.Equal(got, c.want) {
				t.Errorf("%s %s: %q, %v, %v", c.auth, c.path, got, problems, err)
			}
			if len(entries) > 2 && entries[1].Labels.String() != "app=live instance=hall" {
				t.Errorf("labels %q", entries[1].Labels)
			}
		}
		if want := map[string]int{"none": 0, "basic": 1, "digest": 1}[c.auth]; s.refused != want {
			t.Errorf("%s: it refused %d times, and was to do so once, before it was told who asks", c.auth, s.refused)
		}
		for _, sent := range s.seen {
			if c.auth == "digest" && !strings.HasPrefix(sent, "Digest ") || c.auth == "none" {
				t.Errorf("%s: it was sent %q", c.auth, sent)
			}
		}
	}
}

// A wrong password is tried once a round, and it is not in the error.
func TestWowzaRefuses(t *testing.T) {
	for _, auth := range []string{"basic", "digest"} {
		s, url := newWowza(t, auth)
		d, err := ParseDiscovery("wowza:" + strings.Replace(url, "//", "//me:hunter2@", 1))
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = d.Ask(context.Background())
		if err == nil || !strings.Contains(err.Error(), "401") || !strings.Contains(err.Error(), "--discover-credentials") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", auth, err)
		}
		if len(s.seen) != 1 {
			t.Errorf("%s: the password was tried %d times", auth, len(s.seen))
		}
		s.seen = nil
		if _, _, err = d.Ask(context.Background()); err == nil || len(s.seen) > 2 {
			t.Errorf("%s, the next round: tried %d times, %v", auth, len(s.seen), err)
		}
	}
}

// What is no answer of Wowza's is an error, whichever of its answers it is.
func TestWowzaAnswersOddly(t *testing.T) {
	odd := map[string]func(http.ResponseWriter){
		"with nothing":          func(http.ResponseWriter) {},
		"a web page":            func(w http.ResponseWriter) { fmt.Fprint(w, "<!DOCTYPE html><html>Wowza Streaming Engine 4</html>") },
		"another XML document":  func(w http.ResponseWriter) { fmt.Fprint(w, "<Instances serverName=\"_defaultServer_\"/>") },
		"500":                   func(w http.ResponseWriter) { http.Error(w, "{}", http.StatusInternalServerError) },
		"404":                   func(w http.ResponseWriter) { http.Error(w, "{}", http.StatusNotFound) },
		"another JSON document": func(w http.ResponseWriter) { fmt.Fprint(w, `{"serverName":"_defaultServer_","version":"1"}`) },
		"cut off": func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "400")
			fmt.Fprint(w, `{"applications":[`)
		},
		`begins "{\"instanceList`: func(w http.ResponseWriter) { fmt.Fprint(w, `{"instanceList":[{"name":"_definst_","incomi`) },
		"another text":            func(w http.ResponseWriter) { fmt.Fprint(w, `null`) },
	}
	for says, answers := range odd {
		for _, path := range []string{wowzaPath, wowzaPath + "/stage 1/instances"} {
			s, url := newWowza(t, "none")
			s.answers[path] = answers
			d, err := ParseDiscovery("wowza:" + url)
			if err != nil {
				t.Fatal(err)
			}
			if entries, _, err := d.Ask(context.Background()); err == nil || len(entries) > 0 || !strings.Contains(err.Error(), says) {
				t.Errorf("%s, %s: %v, %v", path, says, entries, err)
			}
		}
	}
}

// An engine of many applications is asked for so many.
func TestWowzaIsBounded(t *testing.T) {
	s, url := newWowza(t, "none")
	var apps []string
	for i := range 3 * maxPages {
		id := fmt.Sprint("a", i)
		apps = append(apps, fmt.Sprintf(`{"id":%q}`, id))
		s.answers[wowzaPath+"/"+id+"/instances"] = func(w http.ResponseWriter) {
			fmt.Fprint(w, `{"instanceList":[{"name":"_definst_","incomingStreams":[{"name":"x","isConnected":true}]}]}`)
		}
	}
	s.answers[wowzaPath] = func(w http.ResponseWriter) { fmt.Fprintf(w, `{"applications":[%s]}`, strings.Join(apps, ",")) }
	d, err := ParseDiscovery("wowza:" + url)
	if err != nil {
		t.Fatal(err)
	}
	entries, problems, err := d.Ask(context.Background())
	if err != nil || len(entries) != maxPages || len(problems) != 1 || !strings.Contains(problems[0].Why, "only those are watched") {
		t.Errorf("%d streams, %v, %v", len(entries), problems, err)
	}
}

func FuzzWowza(f *testing.F) {
	for _, name := range []string{"applications", "live", "stage"} {
		f.Add(answer(f, "wowza-"+name+".json"))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if apps, err := readWowzaApplications(b); err == nil && slices.Contains(apps, "") {
			t.Error("an application without a name")
		}
		l, err := readWowzaInstances(b)
		if err != nil {
			return
		}
		for _, v := range l.found {
			v["app"], v["host"] = "live", "h"
			raw, err := fill("rtmp://{host}/{app}/{stream}", v)
			if err != nil {
				t.Fatal(err)
			}
			if e, err := NewEntry(raw, "x"); err == nil && e.URL.Host != "h" {
				t.Errorf("%q leads to %q", raw, e.URL.Host)
			}
		}
	})
}
