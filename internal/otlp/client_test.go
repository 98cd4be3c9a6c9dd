package otlp

import (
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	proto "go.opentelemetry.io/proto/otlp/logs/v1"

	"snag/internal/post"
)

var (
	sender = Resource{Attrs: []Attr{Str("service.name", "snag"), Str("host.name", "edge-7")}, Version: "1"}
	at     = time.Date(2026, 11, 28, 14, 17, 28, 123456789, time.UTC)
	begins = Log{
		Time: at, Observed: at.Add(time.Second), Severity: Error, Event: "snag.incident.begins", Body: "nginx \"waits\" <b> \xff",
		Attrs: []Attr{Int("snag.incident.id", math.MaxInt64), Double("snag.seconds", 1.5), Str("snag.suspect", "disk-stall")},
	}
)

func attrs(all []*common.KeyValue) map[string]any {
	out := map[string]any{}
	for _, a := range all {
		switch v := a.Value.Value.(type) {
		case *common.AnyValue_StringValue:
			out[a.Key] = v.StringValue
		case *common.AnyValue_IntValue:
			out[a.Key] = v.IntValue
		case *common.AnyValue_DoubleValue:
			out[a.Key] = v.DoubleValue
		}
	}
	return out
}

func TestALogRecordArrivesWhole(t *testing.T) {
	t.Parallel()
	c := collect(t)
	if err := to(t, c.URL, "Authorization: Bearer s3cret", "X-Scope-OrgID: a").Logs(t.Context(), sender, []Log{begins, begins}); err != nil {
		t.Fatal(err)
	}
	if len(c.wrong) > 0 || len(c.logs) != 1 || c.records() != 2 {
		t.Fatalf("%q, %d", c.wrong, len(c.logs))
	}
	if h := c.headers[0]; h.Get("Authorization") != "Bearer s3cret" || h.Get("X-Scope-Orgid") != "a" {
		t.Errorf("%v", h)
	}
	r := c.logs[0].ResourceLogs[0]
	if a := attrs(r.Resource.Attributes); a["service.name"] != "snag" || a["host.name"] != "edge-7" {
		t.Errorf("%v", a)
	}
	l := r.ScopeLogs[0].LogRecords[0]
	if l.TimeUnixNano != uint64(at.UnixNano()) || l.ObservedTimeUnixNano != l.TimeUnixNano+1e9 || l.SeverityNumber != proto.SeverityNumber_SEVERITY_NUMBER_ERROR || l.SeverityText != "ERROR" || l.EventName != begins.Event {
		t.Errorf("%v", l)
	}
	if got := l.Body.GetStringValue(); got != "nginx \"waits\" <b> \ufffd" {
		t.Errorf("body %q", got)
	}
	if a := attrs(l.Attributes); a["snag.incident.id"] != int64(math.MaxInt64) || a["snag.seconds"] != 1.5 || a["snag.suspect"] != "disk-stall" {
		t.Errorf("%v", a)
	}
}

func TestMetricsArriveWhole(t *testing.T) {
	t.Parallel()
	c := collect(t)
	all := []Metric{
		{Name: "snag_verdict_hurt", Help: "1 while hurt."},
		{Name: "snag_party_hurt", Value: 1, Attrs: []Attr{Str("party", "a")}},
		{Name: "snag_incidents_total", Counter: true, Value: 3},
		{Name: "snag_party_hurt", Value: 1, Attrs: []Attr{Str("party", "b")}},
		{Name: "snag_ring_bytes", Unit: "By", Value: math.NaN()},
	}
	if err := to(t, c.URL+"/otlp/").Metrics(t.Context(), sender, all, at, at.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if len(c.wrong) != 1 || c.wrong[0] != "/otlp/v1/metrics" { // the path of the endpoint is kept
		t.Fatalf("%q", c.wrong)
	}
	if err := to(t, c.URL).Metrics(t.Context(), sender, all, at, at.Add(time.Minute)); err != nil || len(c.metrics) != 1 {
		t.Fatalf("%v, %q", err, c.wrong)
	}
	m := c.metrics[0].ResourceMetrics[0].ScopeMetrics[0].Metrics
	if len(m) != 3 || len(m[0].GetGauge().GetDataPoints()) != 1 || len(m[1].GetGauge().GetDataPoints()) != 2 {
		t.Fatalf("%v", m)
	}
	s := m[2].GetSum()
	if p := s.GetDataPoints()[0]; !s.IsMonotonic || s.AggregationTemporality != 2 || p.GetAsDouble() != 3 || p.StartTimeUnixNano != uint64(at.UnixNano()) || p.TimeUnixNano != uint64(at.Add(time.Minute).UnixNano()) {
		t.Errorf("%v", s)
	}
}

func TestWhatIsTriedAgain(t *testing.T) {
	t.Parallel()
	for _, code := range []int{429, 502, 503, 504} {
		c := collect(t, status(code), status(code))
		if err := to(t, c.URL).Logs(t.Context(), sender, []Log{begins}); err != nil || c.requests() != 3 || c.records() != 1 {
			t.Errorf("%d: %v, %d requests", code, err, c.requests())
		}
	}
	for _, code := range []int{301, 307, 400, 401, 404, 500} {
		c := collect(t, status(code, "Location", "/v1/elsewhere"))
		err := to(t, c.URL, "Authorization: Bearer s3cret").Logs(t.Context(), sender, []Log{begins})
		if err == nil || c.requests() != 1 || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%d: %v, %d requests", code, err, c.requests())
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	c := collect(t, status(503, "Retry-After", "1"))
	began := time.Now()
	if err := to(t, c.URL).Logs(t.Context(), sender, []Log{begins}); err != nil || time.Since(began) < time.Second {
		t.Errorf("%v after %s", err, time.Since(began))
	}
	c = collect(t, status(429, "Retry-After", "3600"))
	if err := to(t, c.URL).Logs(t.Context(), sender, []Log{begins}); err == nil || c.requests() != 1 || !strings.Contains(err.Error(), "given up after 1 tries") {
		t.Errorf("%v, %d requests", err, c.requests())
	}
}

func TestWhatACollectorRefuses(t *testing.T) {
	t.Parallel()
	c := collect(t, func(w http.ResponseWriter) {
		w.Write([]byte(`{"partialSuccess":{"rejectedLogRecords":"1","errorMessage":"too old"}}`))
	})
	var f *post.Failed
	if err := to(t, c.URL).Logs(t.Context(), sender, []Log{begins, begins}); !errors.As(err, &f) || f.Rejected != 1 || f.Again || !strings.Contains(err.Error(), "too old") {
		t.Errorf("%v", err)
	}
}

func TestTLSIsVerified(t *testing.T) {
	t.Parallel()
	asked := false
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer s.Close()
	s.Config.ErrorLog = nil
	began := time.Now()
	err := to(t, s.URL).Logs(t.Context(), sender, []Log{begins})
	if err == nil || asked || !strings.Contains(err.Error(), "certificate") || time.Since(began) > 10*time.Second {
		t.Errorf("%v; asked: %v", err, asked)
	}
}

// A proxy of the environment is another place than the one that was given.
func TestNoProxyOfTheEnvironment(t *testing.T) {
	asked := false
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer proxy.Close()
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("http_proxy", proxy.URL)
	c := to(t, "http://collector.invalid")
	c.Total = 0
	if err := c.Logs(t.Context(), sender, []Log{begins}); err == nil || asked {
		t.Errorf("%v; the proxy was asked: %v", err, asked)
	}
}

func TestEndpoints(t *testing.T) {
	t.Parallel()
	for _, u := range []string{"", "collector:4318", "grpc://h:4317", "http://", "http://me:s3cret@h:4318", "https://h/?token=s3cret", "http://h:4318/v1/logs"} {
		if _, err := New(u, nil); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", u, err)
		}
	}
}
