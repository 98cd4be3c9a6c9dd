package prom

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestQuery(t *testing.T) {
	var asked, header string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, header = r.PostFormValue("query")+" at "+r.PostFormValue("time")+" "+r.URL.Path, r.Header.Get("X-Scope-Orgid")
		fmt.Fprint(w, `{"status":"success","warnings":["store-2: \u001b[31mdeadline"],"data":{"resultType":"vector","result":[
			{"metric":{"__name__":"up","instance":"a"},"value":[1795976155.5,"1"]},{"metric":{},"value":[1795976155.5,"NaN"]},{"metric":{"instance":"b"},"value":[1795976155,"+Inf"]}]}}`)
	}))
	defer s.Close()
	c, err := New(s.URL+"/prefix/", http.Header{"X-Scope-Orgid": {"a"}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := c.Query(t.Context(), "up", time.UnixMilli(1795976155500))
	if err != nil || len(a.Samples) != 2 || a.Samples[0].Labels["instance"] != "a" || a.Samples[0].Value != 1 || a.Samples[0].At.UnixMilli() != 1795976155500 {
		t.Errorf("%+v %v", a, err)
	}
	if asked != "up at 1795976155.500 /prefix/api/v1/query" || header != "a" {
		t.Errorf("%s, %s", asked, header)
	}
	if len(a.Warnings) != 1 || strings.Contains(a.Warnings[0], "\x1b") {
		t.Errorf("%q", a.Warnings)
	}
}

func TestWhatIsNoAnswer(t *testing.T) {
	for body, want := range map[string]string{
		"503 <html>": "503 Service Unavailable: is this a Prometheus",
		"200 <html>": "can't be read",
		"200 {":      "can't be read",
		"200 {}":     "no vector",
		"302 ":       "redirects",
		"422 {\"status\":\"error\",\"errorType\":\"bad_data\",\"error\":\"parse error\\u001b\"}":                         "it refuses the query: bad_data: parse error",
		"200 {\"status\":\"success\",\"data\":{\"resultType\":\"matrix\"}}":                                              "no vector",
		"200 {\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[{\"metric\":{},\"value\":[1,2]}]}}": "can't be read",
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			var code int
			fmt.Sscan(body, &code)
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(code)
			_, text, _ := strings.Cut(body, " ")
			fmt.Fprint(w, text)
		}))
		c, err := New(s.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a, err := c.Query(t.Context(), "up", time.Now()); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%s: %+v %v", body, a, err)
		}
		s.Close()
		if _, err := c.Query(t.Context(), "up", time.Now()); err == nil || !strings.HasPrefix(err.Error(), "ask http") {
			t.Error(err)
		}
	}
	for _, u := range []string{"", "h:9090", "ftp://h", "http://me:s3cret@h", "http://h?token=s3cret", "http://h/api/v1/query"} {
		if _, err := New(u, nil); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", u, err)
		}
	}
}

// An answer that is too long is an error that says what to do, and not one that was cut off.
func TestLongAnswers(t *testing.T) {
	before := mostAnswer
	mostAnswer = 1 << 20
	t.Cleanup(func() { mostAnswer = before })
	series := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"data":{"result":[{"metric":{"instance":"first"},"value":[1,"1"]}`) // the type may come last
		for i := range series {
			fmt.Fprintf(w, `,{"metric":{"instance":"host-%d"},"value":[1795976155.5,"1"]}`, i)
		}
		fmt.Fprint(w, `],"resultType":"vector"},"more":[{"x":1}],"status":"success"}`)
	}))
	defer s.Close()
	c, err := New(s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a, err := c.Query(t.Context(), "up", time.Now()); err != nil || len(a.Samples) != 1 {
		t.Errorf("%+v %v", a, err)
	}
	series = 10000
	if a, err := c.Query(t.Context(), "up", time.Now()); err != nil || len(a.Samples) != 10001 || a.Samples[10000].Labels["instance"] != "host-9999" {
		t.Errorf("%d %v", len(a.Samples), err)
	}
	series = 20000
	if _, err := c.Query(t.Context(), "up", time.Now()); err == nil || !strings.Contains(err.Error(), "longer than 1 MB: ask for fewer hosts") {
		t.Error(err)
	}
}
