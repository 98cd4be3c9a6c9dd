package remotewrite

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"snag/recording"
)

// line is a line of line protocol as a store reads it.
type line struct {
	measurement string
	tags        map[string]string
	value       float64
	ns          int64
}

// readLine reads one by the specification: a backslash escapes what can be escaped in an element, and is itself before
// anything else. doubled is how VictoriaMetrics reads it: two backslashes are one too.
func readLine(text string, doubled bool) (line, error) {
	l := line{tags: map[string]string{}}
	var err error
	end := byte(0)
	element := func(stop, escapes string) (out string) {
		for i := 0; i < len(text); i++ {
			c := text[i]
			if c == '\\' && i+1 < len(text) && (strings.IndexByte(escapes, text[i+1]) >= 0 || doubled && text[i+1] == '\\') {
				i++
				out += text[i : i+1]
				continue
			}
			if strings.IndexByte(stop, c) >= 0 {
				end, text = c, text[i+1:]
				return out
			}
			out += text[i : i+1]
		}
		err = fmt.Errorf("%q has no %q after it", out, stop)
		text = ""
		return out
	}
	l.measurement = element(", ", ", ")
	for end == ',' && err == nil {
		key := element("=", ",= ")
		value := element(", ", ",= ")
		if _, twice := l.tags[key]; twice || key == "" || value == "" {
			return l, fmt.Errorf("tag %q=%q", key, value)
		}
		l.tags[key] = value
	}
	field, rest, _ := strings.Cut(text, " ")
	name, number, _ := strings.Cut(field, "=")
	if err != nil || l.measurement == "" || name != "value" {
		return l, fmt.Errorf("no field value in %q (%w)", text, err)
	}
	if l.value, err = strconv.ParseFloat(number, 64); err != nil || math.IsNaN(l.value) || math.IsInf(l.value, 0) {
		return l, fmt.Errorf("value %q (%w)", number, err)
	}
	l.ns, err = strconv.ParseInt(rest, 10, 64)
	return l, err
}

// readLines reads all, and wants a line break after each.
func readLines(t *testing.T, text string) (out []line) {
	t.Helper()
	if text != "" && !strings.HasSuffix(text, "\n") {
		t.Errorf("%q has no line break at its end", text)
	}
	for one := range strings.Lines(text) {
		l, err := readLine(strings.TrimSuffix(one, "\n"), false)
		if err != nil {
			t.Errorf("%q: %v", one, err)
		}
		out = append(out, l)
	}
	return out
}

func oneSample(name string, v float64, labels ...string) sample {
	s := sample{labels: []label{{"__name__", name}}, value: v, at: at}
	for i := 0; i < len(labels); i += 2 {
		s.labels = append(s.labels, label{labels[i], labels[i+1]})
	}
	return s
}

func TestLinesAreAsTheSpecificationHasThem(t *testing.T) {
	const when = " 1795976155540000000\n"
	for _, tt := range []struct {
		of   sample
		want string
	}{
		{oneSample("node_load1", 0.5, "instance", "web1", "job", "snag"), "node_load1,instance=web1,job=snag value=0.5" + when},
		{oneSample("a b,c", 1), `a\ b\,c value=1` + when},
		{oneSample("#a", 1), "_a value=1" + when}, // not a comment
		{oneSample("a=b", 1), "a=b value=1" + when},
		{oneSample("a", 1e21, "k", `x, y=z "q"`), `a,k=x\,\ y\=z\ "q" value=1e+21` + when},
		{oneSample("a", -2, "k=1 ,", "v"), `a,k\=1\ \,=v value=-2` + when},
		{oneSample("a", 1, "k", "x\ny\r\x00\x7f"), `a,k=x\ y\ \ \  value=1` + when},
		{oneSample("a", 1, "unit", `dev-disk-by\x2duuid`), `a,unit=dev-disk-by\x2duuid value=1` + when},
		{oneSample("a", 1, "dir", `C:\`), `a,dir=C:/ value=1` + when},
		{oneSample("a", 1, "dir", `C:\\ x\\,y`), `a,dir=C://\ x//\,y value=1` + when},
		{oneSample("a", 1, "empty", ""), "a value=1" + when},
		{oneSample("", 1, "k", "v"), ""},
		{oneSample("a", math.NaN()), ""},
		{oneSample("a", stale), ""},
		{oneSample("a", math.Inf(1)), ""},
		{oneSample("a", math.Inf(-1)), ""},
	} {
		if got := string(lines([]sample{tt.of})); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.of, got, tt.want)
		}
	}
}

// asRead is what a store has of a name or a value: control characters are spaces, and backslashes may be slashes.
func asRead(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < ' ' || r == 0x7f:
			return ' '
		case r == '\\':
			return '/'
		}
		return r
	}, text)
}

// Whatever is in names and values, each sample is one line that has what was in it, also for a reader that takes two
// backslashes for one.
func FuzzLines(f *testing.F) {
	for _, s := range []string{"", "a", `\`, `\\`, `\,`, `a\ b`, "a\nb", `x="y"`, `\\\=`, "\xff", "é,", "#", `\` + "\n", "\r\n", " "} {
		f.Add(s, s, s, 1.5)
		f.Add("m", "k", s, math.Inf(1))
	}
	f.Fuzz(func(t *testing.T, name, key, value string, v float64) {
		if key == "__name__" || key == "second" || !utf8.ValidString(name+key+value) {
			return // none of these comes from a recorder
		}
		want := map[string]string{"second": "of"}
		if key != "" && value != "" {
			want[asRead(key)] = asRead(value)
		}
		text := string(lines([]sample{oneSample(name, v, key, value, "second", "of"), oneSample("next", 2)}))
		got := readLines(t, text)
		if name == "" || math.IsNaN(v) || math.IsInf(v, 0) {
			if len(got) != 1 || got[0].measurement != "next" {
				t.Errorf("%q", text)
			}
			return
		}
		if name[0] == '#' {
			name = "_" + name[1:]
		}
		if len(got) != 2 || asRead(got[0].measurement) != asRead(name) || got[0].value != v || got[0].ns != int64(at) {
			t.Fatalf("%q of %q", text, name)
		}
		tags := map[string]string{}
		for k, v := range got[0].tags {
			tags[asRead(k)] = asRead(v)
		}
		if !maps.Equal(tags, want) {
			t.Errorf("%q has %q, want %q", text, tags, want)
		}
		first, _, _ := strings.Cut(text, "\n")
		if l, err := readLine(first, true); err != nil || len(l.tags) != len(want) {
			t.Errorf("%q: %v, %v where two backslashes are one", first, l, err)
		}
	})
}

func TestWhatInfluxGets(t *testing.T) {
	st := newStore(t)
	s, n := aSender(t, st.URL, func(o *Options) {
		o.URL, o.Format = st.URL+"/api/v2/write?org=a&bucket=b", Influx
		o.More = func() []Measured {
			return []Measured{{"snag_incident_culprit", recording.Labels{"suspect": "host-cpu", "subject": "java[7] in a, b"}, 1}}
		}
	})
	st.set(true)
	s.Sample(at, "node_load1", nil, 0.5)
	s.Append(recording.Turns{T: at, Role: "serve", Local: "0.0.0.0:80", Comm: "nginx", N: 10, Sum: 2})
	running(t, s)
	await(t, "that it waits on the disk", func() bool { return len(n.said()) > 0 })
	st.set(false)
	await(t, "a request", func() bool { return len(st.requests()) > 0 })
	r, err := gzip.NewReader(bytes.NewReader(st.requests()[0]))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]line{}
	for _, l := range readLines(t, string(body)) {
		got[l.measurement+l.tags["le"]] = l
		if l.tags["instance"] != "web1" || l.tags["job"] != "snag" {
			t.Errorf("%v", l)
		}
	}
	if l := got["node_load1"]; l.value != 0.5 || l.ns != int64(at) {
		t.Errorf("%+v", l)
	}
	if l := got["snag_service_answers_total"]; l.value != 10 || l.tags["process"] != "nginx" || l.tags["listener"] != "0.0.0.0:80" {
		t.Errorf("%+v", l)
	}
	if l := got["snag_incident_culprit"]; l.tags["subject"] != "java[7] in a, b" {
		t.Errorf("%+v", l)
	}
	if l := got["snag_service_answer_seconds_bucket+Inf"]; l.value != 10 {
		t.Errorf("%+v", l)
	}
	if h := st.header; h.Get("Content-Encoding") != "gzip" || !strings.HasPrefix(h.Get("Content-Type"), "text/plain") || h.Get("X-Prometheus-Remote-Write-Version") != "" {
		t.Errorf("%v", h)
	}
	await(t, "the second note", func() bool { return len(n.said()) > 1 })
	if said := n.said(); !strings.HasPrefix(said[0], "--influx: ") || !strings.Contains(said[1], "works again") {
		t.Errorf("%q", said)
	}
}

func TestInfluxURLs(t *testing.T) {
	for _, u := range []string{"http://h:8086/write?db=snag", "https://h/write?db=snag&rp=week&precision=ns", "http://h/api/v2/write?org=a&bucket=b", "http://h:8428/write", "http://h/influx/write?db=a"} {
		if _, err := New(Options{URL: u, Format: Influx}); err != nil {
			t.Errorf("%q: %v", u, err)
		}
	}
	for u, want := range map[string]string{
		"h:8086": "give the whole URL", "http://h:8086": "InfluxDB 1 has /write?db=DB", "http://h/api/v1/write/x?db=a": "no path",
		"http://me:s3cret@h/write?db=a": "--influx-header", "http://h/write?db=a&u=me&p=s3cret": "--influx-token",
		"http://h/write?db=a&precision=s": "ns", "http://h/api/v2/write?org=a": "bucket",
	} {
		if _, err := New(Options{URL: u, Format: Influx}); err == nil || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", u, err, want)
		}
	}
}

// Thousands of lines take a small part of what they are.
func TestLinesAreCompressed(t *testing.T) {
	var all []sample
	for i := range DefaultSeries {
		all = append(all, oneSample("node_network_receive_bytes_total", float64(i*7919), "device", fmt.Sprint("eth", i), "instance", "web1", "job", "snag"))
	}
	if plain, packed := len(lines(all)), len(packedLines(all)); packed > plain/5 || packed == 0 {
		t.Errorf("%d bytes of %d", packed, plain)
	}
}
