package remotewrite

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Format is how samples are sent: the same series, bounds and outbox for each.
type Format struct {
	// Flag is the option of snag record, for notes and errors; Prefix begins the names of the sender's own counters.
	Flag, Prefix string
	header       http.Header
	encode       func([]sample) []byte
	check        func(*url.URL) error
}

// Formats.
var (
	// RemoteWrite is Prometheus' remote write 1.0.
	RemoteWrite = Format{Flag: "--remote-write", Prefix: "snag_remote_write_", encode: encode, check: writeURL, header: http.Header{
		"Content-Type": {"application/x-protobuf"}, "Content-Encoding": {"snappy"},
		"X-Prometheus-Remote-Write-Version": {"0.1.0"}, "User-Agent": {"snag"},
	}}
	// Influx is InfluxDB's line protocol.
	Influx = Format{Flag: "--influx", Prefix: "snag_influx_", encode: packedLines, check: influxURL, header: http.Header{
		"Content-Type": {"text/plain; charset=utf-8"}, "Content-Encoding": {"gzip"}, "User-Agent": {"snag"},
	}}
)

// checked is an error that names what is wrong with a URL, and has no secret of it.
func (f Format) checked(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("no http:// or https:// URL: give the whole URL of the receiver, as %s", f.example())
	case u.User != nil || u.Fragment != "":
		return fmt.Errorf("a URL with a user or a fragment: %s-header @FILE has the credentials", f.Flag)
	}
	return f.check(u)
}

func (f Format) example() string {
	if f.Flag == Influx.Flag {
		return "http://127.0.0.1:8086/write?db=snag"
	}
	return "http://127.0.0.1:9090/api/v1/write"
}

func writeURL(u *url.URL) error {
	switch {
	case u.RawQuery != "":
		return errors.New("a URL with a query: --remote-write-header @FILE has the credentials")
	case strings.Trim(u.Path, "/") == "":
		return fmt.Errorf("%s has no path: Prometheus takes samples at /api/v1/write, Thanos at /api/v1/receive, Mimir at /api/v1/push", u)
	}
	return nil
}

// influxKeys are what a query may have. Others may be secrets, as u and p of InfluxDB 1.
var influxKeys = []string{"db", "rp", "consistency", "org", "orgID", "bucket", "precision"}

func influxURL(u *url.URL) error {
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return errors.New("its query cannot be read: write it as ?db=snag or ?org=ORG&bucket=BUCKET")
	}
	for key := range q {
		if !slices.Contains(influxKeys, key) {
			return fmt.Errorf("a query with %q: only %s are sent in it; --influx-token FILE has the token", key, strings.Join(influxKeys, ", "))
		}
	}
	switch p := q.Get("precision"); {
	case q.Has("precision") && p != "ns" && p != "n":
		return errors.New("precision in the query: times are sent in ns, leave it out")
	case strings.HasSuffix(u.Path, "/api/v2/write"):
		if q.Get("bucket") == "" {
			return errors.New("no bucket: write it as /api/v2/write?org=ORG&bucket=BUCKET")
		}
	case strings.HasSuffix(u.Path, "/write"):
	default:
		return errors.New("no path that takes line protocol: InfluxDB 1 has /write?db=DB, InfluxDB 2 /api/v2/write?org=ORG&bucket=BUCKET, VictoriaMetrics /write")
	}
	return nil
}
