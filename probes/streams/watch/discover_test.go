package watch

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
)

// The answers in testdata/discover: nginx.xml is what nginx 1.22 with Debian's
// libnginx-mod-rtmp 1.2.2 gave with three publishers and one player who waits;
// srs.json is ossrs/srs issue 4477's answer of SRS 5, a stream of another virtual host
// and one that ended, field by field as SRS 7.0.18 writes them
// (trunk/src/app/srs_app_statistic.cpp, SrsStatisticStream::dumps); mediamtx.json is by
// MediaMTX 1.20.1's api/openapi.yaml and internal/defs/api_path.go, with a path that
// alwaysAvailable fills (online false) and a source that is not there yet (available
// false: internal/core/path.go), mediamtx-1.9.json by 1.9's apidocs/openapi.yaml;
// consul.json is by Consul's api-docs/health. A real Consul is asked in
// consul_live_test.go, a real nginx-rtmp in the probe's live test.
func answer(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/discover/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDiscover(t *testing.T) {
	for _, c := range []struct {
		spec, file string
		want       []string
		problems   int
	}{
		{"nginx:URL/stat", "nginx.xml", []string{"rtmp://127.0.0.1:1935/live/cam1", "rtmp://127.0.0.1:1935/live/cam2", "rtmp://127.0.0.1:1935/hall/a"}, 0},
		{"nginx:URL/stat url=rtmp://edge:1936/{app}/{stream}", "nginx.xml", []string{"rtmp://edge:1936/live/cam1", "rtmp://edge:1936/live/cam2", "rtmp://edge:1936/hall/a"}, 0},
		{"mediamtx:URL", "mediamtx.json", []string{"rtsp://127.0.0.1:8554/door", "rtsp://127.0.0.1:8554/site%20b/gate"}, 0},
		{"mediamtx:URL", "mediamtx-1.9.json", []string{"rtsp://127.0.0.1:8554/door", "rtsp://127.0.0.1:8554/site%20b/gate"}, 0},
		{"srs:URL/", "srs.json", []string{"rtmp://127.0.0.1:1935/__defaultApp__/stream", "rtmp://127.0.0.1:1935/live/stage?vhost=stage.example.com"}, 0},
		{"srs:URL url=http://{host}:8080/{app}/{stream}.m3u8?k=1", "srs.json",
			[]string{"http://127.0.0.1:8080/__defaultApp__/stream.m3u8?k=1", "http://127.0.0.1:8080/live/stage.m3u8?k=1&vhost=stage.example.com"}, 0},
		{"consul:URL/v1/health/service/rtmp url=rtmp://{address}:{port}/live/{meta.stream}", "consul.json",
			[]string{"rtmp://10.1.10.99:1935/live/cam1", "rtmp://[fd00::2]:1936/live/cam2"}, 1},
	} {
		body := answer(t, c.file)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(body) }))
		d, err := ParseDiscovery(strings.Replace(c.spec, "URL", server.URL, 1))
		if err != nil {
			t.Fatal(c.spec, err)
		}
		entries, problems, err := d.Ask(context.Background())
		server.Close()
		var got []string
		for _, e := range entries {
			got = append(got, e.URL.String())
		}
		slices.Sort(got)
		slices.Sort(c.want)
		if err != nil || !slices.Equal(got, c.want) || len(problems) != c.problems {
			t.Errorf("%s: %q, %v, %v", c.spec, got, problems, err)
		}
	}
}

func TestDiscoverNamesAnotherAnswer(t *testing.T) {
	page := "<!DOCTYPE html><html><body>Welcome to nginx!</body></html>"
	for _, c := range []struct{ kind, body, says string }{
		{"nginx", page, "a web page"},
		{"nginx", `{"items":[]}`, "another JSON document"},
		{"nginx", `<other/>`, "another XML document"},
		{"nginx", "", "nothing"},
		{"mediamtx", `{"error":"path not found"}`, "another JSON document"},
		{"mediamtx", page, "a web page"},
		{"srs", `{"status":"error"}`, "another JSON document"},
		{"srs", `{"code":100,"streams":[]}`, "SRS answered with its error 100"},
		{"consul", `{}`, "another JSON document"},
		{"consul", `[{"Name":"x"}]`, "another JSON document"},
		{"consul", "\x1b[2Jhello", `\x1b`},
		// Nothing here says that there are no streams.
		{"nginx", `<rtmp></rtmp>`, "another XML document"},
		{"nginx", `<rtmp><nginx_version>1.22.1</nginx_version><server><application><name>live</name><live><stream><na`, "another XML document"},
		{"mediamtx", `{"itemCount":0,"pageCount":0}`, "another JSON document"},
		{"mediamtx", `{"itemCount":0,"pageCount":0,"items":null}`, "another JSON document"},
		{"srs", `{"code":0}`, "another JSON document"},
		{"srs", `{"code":0,"server":"vid-1","streams":[{"id":"a","na`, "another JSON document"},
		{"consul", `null`, "another text"},
		{"nms", `null`, "another text"},
		{"nms", page, "a web page"},
		{"nms", `{"success":false,"data":{},"message":"Internal server error"}`, "another JSON document"},
		{"nms", `{"live":{"cam1":{"publisher":{}}}}`, "another JSON document"},
		{"nms", `{"live":{"cam1":{"publisher":{"app":"li`, "another JSON document"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(c.body)) }))
		d, err := ParseDiscovery(c.kind + ":" + server.URL + " url=rtmp://h/{id}{stream}")
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = d.Ask(context.Background())
		server.Close()
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%s, %q: %v", c.kind, c.body, err)
		}
	}
}

func TestDiscoverIsBounded(t *testing.T) {
	long := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		chunk := make([]byte, 1<<20)
		for range 64 {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}))
	defer long.Close()
	away := httptest.NewServer(http.RedirectHandler("http://192.0.2.1/", http.StatusFound))
	defer away.Close()
	secret := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusUnauthorized) }))
	defer secret.Close()
	for url, says := range map[string]string{
		long.URL: "longer than 8 MB",
		away.URL: "another server",
		strings.Replace(secret.URL, "//", "//me:hunter2@", 1): "give the user in the URL",
		"http://127.0.0.1:1": "is it running",
	} {
		d, err := ParseDiscovery("srs:" + url + "?token=hunter2")
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := d.Ask(context.Background()); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// Credentials are not sent on without TLS, nor to another port.
func TestDiscoverKeepsCredentialsFromRedirects(t *testing.T) {
	var sent []string
	plain := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		sent = append(sent, r.Header.Get("Authorization"))
	}))
	defer plain.Close()
	client := askClient()
	from := func(raw string) *http.Request {
		r, err := http.NewRequest(http.MethodGet, raw, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for to, refused := range map[string]bool{"http://origin/": true, "https://origin:444/": true, "https://origin/other": false} {
		if err := client.CheckRedirect(from(to), []*http.Request{from("https://origin/")}); refused != (err != nil) {
			t.Errorf("to %s: %v", to, err)
		}
	}
	away := httptest.NewServer(http.RedirectHandler(plain.URL, http.StatusFound))
	defer away.Close()
	d, err := ParseDiscovery("srs:" + away.URL)
	if err != nil {
		t.Fatal(err)
	}
	d.web.token = "hunter2"
	if _, _, err := d.Ask(context.Background()); err == nil || len(sent) > 0 {
		t.Errorf("%v, %q", err, sent)
	}
}

// A server that lies about its pages is not asked for ever.
func TestDiscoverPages(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		w.Write([]byte(`{"pageCount":1000000,"items":[{"name":"p` + r.URL.Query().Get("page") + `","ready":true}]}`))
	}))
	defer server.Close()
	d, err := ParseDiscovery("mediamtx:" + server.URL)
	if err != nil {
		t.Fatal(err)
	}
	entries, problems, err := d.Ask(context.Background())
	if err != nil || asked != maxPages || len(entries) != maxPages || entries[1].Name != "p1" {
		t.Errorf("asked %d times for %d streams, %v", asked, len(entries), err)
	}
	if len(problems) != 1 || !strings.Contains(problems[0].Why, "more streams than 50 answers list") {
		t.Errorf("that there are more is not said: %v", problems)
	}
}

func TestParseDiscovery(t *testing.T) {
	for spec, says := range map[string]string{
		"":                          "write KIND:URL",
		"http://a/stat":             "KIND one of nginx",
		"nginx":                     "KIND one of nginx",
		"wowzer:http://a":           "KIND one of nginx",
		"antmedia:http://a":         "names the application",
		"nginx:ftp://a":             "http:// or https://",
		"nginx:http://a host=b":     "url=TEMPLATE",
		"consul:http://a/v1":        "how a stream's URL is made",
		"nginx:http://a url=x":      "not a URL template",
		"nginx:http://a url={host}": "not a URL template",
		"nginx:http://a url=rtmp://{hsot}/{stream}": "there is no {hsot}",
		"nginx:http://u:hunter2@a:x/":               "http:// or https://",
	} {
		if _, err := ParseDiscovery(spec); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", spec, err)
		}
	}
}

// What a server calls its streams can't become another server or a query.
func TestFillEscapes(t *testing.T) {
	got, err := fill("rtmp://{host}:1935/{app}/{stream}", vars{"host": "h@evil.example/", "app": "a?b#c", "stream": "x y/\x1b[2J%"})
	if err != nil || got != "rtmp://hevil.example:1935/a%3Fb%23c/x%20y/%1B%5B2J%25" {
		t.Errorf("%q, %v", got, err)
	}
}

func FuzzDiscovered(f *testing.F) {
	for _, name := range []string{"mediamtx.json", "srs.json", "consul.json", "nginx.xml", "antmedia.json", "wowza-live.json"} {
		b, err := os.ReadFile("testdata/discover/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	d := &Discovery{kind: kinds[0], template: "rtmp://{host}/{app}{stream}{id}"}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, k := range kinds {
			if k.read == nil {
				continue // it is not asked over HTTP: FuzzMessage of gb28181
			}
			list, err := k.read(b)
			if err != nil {
				continue
			}
			for _, v := range list.found {
				v["host"] = "h"
				for _, name := range []string{"app", "stream", "id"} {
					if v[name] == "" {
						v[name] = "-"
					}
				}
				raw, err := fill(d.template, v)
				if err != nil {
					t.Fatal(err)
				}
				if e, err := NewEntry(raw, "x"); err == nil && e.URL.Host != "h" {
					t.Errorf("%q leads to %q", raw, e.URL.Host)
				}
			}
		}
	})
}
