package remotewrite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang/snappy"
	"google.golang.org/protobuf/encoding/protowire"

	"snag/internal/post"
	"snag/recording"
)

// point is one sample as a store reads it.
type point struct {
	labels map[string]string
	value  float64
	ms     int64
}

// decoded reads a WriteRequest with Google's reader of protobuf.
func decoded(t *testing.T, body []byte) (out []point) {
	t.Helper()
	b, err := snappy.Decode(nil, body)
	if err != nil {
		t.Fatal(err)
	}
	each(t, b, func(_ protowire.Number, series []byte, _ uint64) {
		p := point{labels: map[string]string{}}
		last := ""
		each(t, series, func(n protowire.Number, part []byte, _ uint64) {
			var text [3]string
			each(t, part, func(field protowire.Number, b []byte, v uint64) {
				switch {
				case n == 1:
					text[field] = string(b)
				case field == 1:
					p.value = math.Float64frombits(v)
				default:
					p.ms = int64(v)
				}
			})
			if n == 1 {
				if text[1] <= last {
					t.Errorf("label %q after %q: they must be sorted", text[1], last)
				}
				last = text[1]
				p.labels[text[1]] = text[2]
			}
		})
		out = append(out, p)
	})
	return out
}

func each(t *testing.T, b []byte, f func(protowire.Number, []byte, uint64)) {
	t.Helper()
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		b = b[n:]
		var bytes []byte
		var v uint64
		switch kind {
		case protowire.BytesType:
			bytes, n = protowire.ConsumeBytes(b)
		case protowire.Fixed64Type:
			v, n = protowire.ConsumeFixed64(b)
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(b)
		default:
			t.Fatalf("wire type %d", kind)
		}
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		f(field, bytes, v)
		b = b[n:]
	}
}

// store takes what is written to it, once down is false.
type store struct {
	*httptest.Server
	mu     sync.Mutex
	down   bool
	refuse int // the next so many
	got    [][]byte
	header http.Header
}

func newStore(t *testing.T) *store {
	s := &store{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		b, _ := io.ReadAll(r.Body)
		switch {
		case s.down:
			http.Error(w, "no disk", http.StatusServiceUnavailable)
		case s.refuse > 0:
			s.refuse--
			http.Error(w, "out of order sample", http.StatusBadRequest)
		default:
			s.got, s.header = append(s.got, b), r.Header
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *store) set(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
}

func (s *store) requests() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.got)
}

type notes struct {
	mu  sync.Mutex
	all []string
}

func (n *notes) note(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, text)
}

func (n *notes) said() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.all)
}

func aSender(t *testing.T, at string, change func(*Options)) (*Sender, *notes) {
	t.Helper()
	n := &notes{}
	o := Options{URL: at + "/api/v1/write", Client: post.New(nil), Labels: map[string]string{"instance": "web1", "job": "snag"},
		Every: 20 * time.Millisecond, Series: 300, Dir: filepath.Join(t.TempDir(), "outbox"), Size: 1 << 20, Note: n.note}
	if change != nil {
		change(&o)
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s, n
}

func running(t *testing.T, s *Sender) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { s.Run(ctx); close(done) }()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	t.Cleanup(stop)
	return stop
}

func await(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 20 s: %s", what)
		}
	}
}

const at = recording.Time(1795976155_540_000_000)

func TestWhatAStoreGets(t *testing.T) {
	st := newStore(t)
	s, n := aSender(t, st.URL, func(o *Options) {
		o.More = func() []Measured { return []Measured{{"snag_verdict_hurt", nil, 1}} }
	})
	s.Sample(at, "node_load1", nil, 0.5)
	s.Sample(at, "node_network_receive_bytes_total", recording.Labels{"device": "eth0", "odd": "a\xffb"}, 7)
	s.Sample(at, "process_cpu_seconds_total", recording.Labels{"pid": "7"}, 7)
	for range 3 { // three seconds: the last value of a gauge, the sum of counts
		s.Append(recording.Turns{T: at, Role: "serve", Local: "0.0.0.0:80", Remote: "10.0.0.1", Comm: "nginx", N: 10, Sum: 2, Wait: 1, Failed: 1, Open: 2, Oldest: 0.5, Hist: hist(map[int]uint64{3: 8, 20: 1, 41: 1})})
	}
	s.Append(recording.Turns{T: at, Role: "call", Local: "10.0.0.2", Remote: "10.0.0.3:5432", Comm: "app", Netns: 4026531833, N: 4, Sum: 0.2})
	running(t, s)
	await(t, "a request", func() bool { return len(st.requests()) > 0 })
	got := map[string]point{}
	for _, p := range decoded(t, st.requests()[0]) {
		name := p.labels["__name__"]
		if le := p.labels["le"]; le != "" {
			name += " " + le
		}
		got[name] = p
		if p.labels["instance"] != "web1" || p.labels["job"] != "snag" {
			t.Errorf("%v", p.labels)
		}
	}
	for name, want := range map[string]float64{
		"node_load1": 0.5, "node_network_receive_bytes_total": 7, "snag_verdict_hurt": 1,
		"snag_service_answers_total": 30, "snag_service_answer_seconds_total": 6, "snag_service_unread_seconds_total": 3, "snag_service_failed_answers_total": 3,
		"snag_service_open_requests": 6, "snag_service_oldest_request_seconds": 0.5, "snag_dependency_answers_total": 4, "snag_dependency_answer_seconds_total": 0.2,
		"snag_service_answer_seconds_bucket 0.001024": 24, "snag_service_answer_seconds_bucket 0.016384": 24, "snag_service_answer_seconds_bucket 0.032768": 27,
		"snag_service_answer_seconds_bucket 8.388608": 27, "snag_service_answer_seconds_bucket +Inf": 30,
	} {
		p, is := got[name]
		if !is || p.value != want {
			t.Errorf("%s is %v, want %g", name, p, want)
		}
	}
	if p := got["node_load1"]; p.ms != int64(at)/1e6 {
		t.Errorf("%+v", p)
	}
	if l := got["snag_dependency_answers_total"].labels; l["process"] != "app" || l["server"] != "10.0.0.3:5432" || l["netns"] != "4026531833" {
		t.Errorf("%v", l)
	}
	if v := got["node_network_receive_bytes_total"].labels["odd"]; v != "a�b" {
		t.Errorf("%q", v)
	}
	if _, is := got["process_cpu_seconds_total"]; is {
		t.Error("series of processes are sent")
	}
	if h := st.header; h.Get("Content-Encoding") != "snappy" || h.Get("Content-Type") != "application/x-protobuf" || h.Get("X-Prometheus-Remote-Write-Version") != "0.1.0" {
		t.Errorf("%v", h)
	}
	if said := n.said(); len(said) != 0 {
		t.Error(said)
	}
}

func hist(at map[int]uint64) []uint64 {
	out := make([]uint64, slices.Max(slices.Collect(maps.Keys(at)))+1)
	for i, n := range at {
		out[i] = n
	}
	return out
}

// A series that has no value any more ends, and makes room.
func TestStaleSeries(t *testing.T) {
	table := newTable(300)
	table.Sample(at, "a", recording.Labels{"x": "1"}, 1)
	for take, want := range []string{"[1]", "[]", "[NaN]", "[]"} {
		all, _ := table.take(at, nil)
		got := []float64{}
		for _, s := range all {
			got = append(got, s.value)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("take %d: %v, want %s", take, got, want)
		}
		if take == 2 && math.Float64bits(all[0].value) != 0x7ff0000000000002 {
			t.Errorf("%x", math.Float64bits(all[0].value))
		}
	}
	if len(table.series) != 0 {
		t.Error("it is kept")
	}
}

// Ten times as many series as are allowed: services and snag's own values have their room, and what is left out is
// named.
func TestTheBudget(t *testing.T) {
	st := newStore(t)
	s, n := aSender(t, st.URL, func(o *Options) {
		o.More = func() []Measured { return []Measured{{"snag_verdict_hurt", nil, 1}} }
	})
	for i := range 3000 {
		s.Sample(at, "node_disk_reads_completed_total", recording.Labels{"device": fmt.Sprint(i)}, 1)
	}
	for i := range 10 * mostParties {
		s.Append(recording.Turns{T: at, Role: "call", Remote: fmt.Sprintf("10.0.0.%d:80", i), Comm: "app", N: 1})
	}
	running(t, s)
	await(t, "a request", func() bool { return len(st.requests()) > 0 })
	all := decoded(t, st.requests()[0])
	count := map[string]int{}
	for _, p := range all {
		count[p.labels["__name__"]]++
	}
	if len(all) != 300 || count["node_disk_reads_completed_total"] != 200 || count["snag_verdict_hurt"] != 1 {
		t.Errorf("%d series: %v", len(all), count)
	}
	await(t, "the note", func() bool { return len(n.said()) > 0 })
	if said := n.said()[0]; !strings.Contains(said, "300 series are the most") || !strings.Contains(said, "node_disk_reads_completed_total") {
		t.Error(said)
	}
	if s.Counts().LeftOut == 0 {
		t.Errorf("%+v", s.Counts())
	}
}

// A store that is down for long gets everything afterwards, in order, also from another process.
func TestAnOutage(t *testing.T) {
	st := newStore(t)
	st.set(true)
	var o Options
	s, n := aSender(t, st.URL, func(x *Options) { o = *x })
	value := 0.0
	more := func(s *Sender) { value++; s.Sample(at, "a", nil, value) }
	stop := running(t, s)
	waiting := func(k int) func() bool {
		return func() bool {
			more(s)
			all, _, err := s.box.list()
			return err == nil && len(all) >= k
		}
	}
	await(t, "requests that wait", waiting(10))
	stop() // killed or restarted
	again, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	s = again
	stop = running(t, s)
	await(t, "more that wait", waiting(15))
	st.set(false)
	await(t, "that all is sent", func() bool {
		all, _, err := s.box.list()
		return err == nil && len(all) == 0
	})
	stop()
	last := 0.0
	for _, body := range st.requests() {
		for _, p := range decoded(t, body) {
			if p.labels["__name__"] != "a" || math.IsNaN(p.value) {
				continue
			}
			if p.value < last {
				t.Errorf("%g after %g", p.value, last)
			}
			last = p.value
		}
	}
	if len(st.requests()) < 15 || last < value-1 {
		t.Errorf("%d requests, up to %g of %g", len(st.requests()), last, value)
	}
	if said := n.said(); len(said) != 3 || !strings.Contains(said[0], "no disk") || !strings.Contains(said[1], "no disk") || !strings.Contains(said[2], "works again") { // once a process
		t.Errorf("%q", said)
	}
}

// What a store refuses for good does not hold up the rest.
func TestWhatIsRefused(t *testing.T) {
	st := newStore(t)
	st.refuse = 2
	s, n := aSender(t, st.URL, nil)
	running(t, s)
	await(t, "a request", func() bool { s.Sample(at, "a", nil, 1); return len(st.requests()) > 1 })
	if c := s.Counts(); c.Refused != 2 {
		t.Errorf("%+v", c)
	}
	if said := n.said(); len(said) != 2 || !strings.HasSuffix(said[0], "out of order sample; what is refused is not sent again, recording goes on. Does another recorder send the same labels? Give each its own: --remote-write-label instance=NAME") || !strings.Contains(said[1], "requests refused so far: 2") {
		t.Errorf("%q", said)
	}
}

// Other refusals are no sign of another recorder.
func TestARefusalOfAnotherKind(t *testing.T) {
	s, _ := aSender(t, "http://127.0.0.1:1", nil)
	for text, want := range map[string]bool{
		"400 Bad Request: out of order sample":                                        true,
		"400 Bad Request: duplicate sample for timestamp":                             true,
		"409 Conflict: store locally for endpoint: add 3 series: out of order sample": true,
		"400 Bad Request: err-mimir-sample-out-of-order":                              true,
		"400 Bad Request: label name too long":                                        false,
		"401 Unauthorized":                                                            false,
	} {
		if got := s.twice(errors.New(text)); (got != "") != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}

// A store that is gone for ever costs no more than the space that was set aside, and the newest is kept.
func TestTheOutboxIsBounded(t *testing.T) {
	b := outbox{filepath.Join(t.TempDir(), "outbox"), 1000}
	lost := 0
	for i := range 20 {
		n, err := b.add(int64(i), make([]byte, 100))
		if err != nil {
			t.Fatal(err)
		}
		lost += n
	}
	if err := os.WriteFile(filepath.Join(b.dir, "strange"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	all, size, err := b.list()
	if err != nil || len(all) != 10 || size != 1000 || lost != 10 || filepath.Base(all[9]) != "000000000000019.write" {
		t.Errorf("%v, %d bytes, %d lost (%v)", all, size, lost, err)
	}
	// Where nothing can be kept it says so, and goes on.
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s, n := aSender(t, "http://127.0.0.1:1", func(o *Options) { o.Dir = filepath.Join(file, "outbox") })
	s.Sample(at, "a", nil, 1)
	s.collect(time.Now())
	if said := n.said(); len(said) != 1 || !strings.Contains(said[0], "recording goes on") {
		t.Errorf("%q", said)
	}
}

func TestURLs(t *testing.T) {
	for _, u := range []string{"", "h:9090", "ftp://h/x", "http://me:s3cret@h/api/v1/write", "http://h/api?token=s3cret", "http://h:9090", "http://h:9090/"} {
		if _, err := New(Options{URL: u}); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", u, err)
		}
	}
}

func TestRelabelling(t *testing.T) {
	dir := t.TempDir()
	file := func(text string) string {
		name := filepath.Join(dir, "rules.yml")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	f, err := Relabelling(file("- source_labels: [__name__]\n  regex: node_disk.*\n  action: drop\n- source_labels: [device]\n  regex: (eth)\\d+\n  target_label: kind\n- action: labeldrop\n  regex: instance\n"))
	if err != nil {
		t.Fatal(err)
	}
	st := newStore(t)
	s, _ := aSender(t, st.URL, func(o *Options) { o.Relabel = f })
	s.Sample(at, "node_disk_reads_completed_total", nil, 1)
	s.Sample(at, "node_network_up", recording.Labels{"device": "eth0"}, 1)
	running(t, s)
	await(t, "a request", func() bool { return len(st.requests()) > 0 })
	all := decoded(t, st.requests()[0])
	if len(all) != 1 || fmt.Sprint(all[0].labels) != "map[__name__:node_network_up device:eth0 job:snag kind:eth]" {
		t.Errorf("%v", all)
	}
	for _, text := range []string{"- action: nothing", "a: b", "- regex: (", "- source_label: [x]", "- ", "\x00", "- action: replace"} {
		if _, err := Relabelling(file(text)); err == nil || !strings.Contains(err.Error(), "rules.yml") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Each second has some thousands of samples, which the recorder must not wait for.
func BenchmarkSample(b *testing.B) {
	table := newTable(DefaultSeries)
	labels := make([]recording.Labels, 1500)
	for i := range labels {
		labels[i] = recording.Labels{"device": fmt.Sprint("eth", i), "netns": "4026531833"}
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		table.Sample(at, "node_network_receive_bytes_total", labels[i%len(labels)], 1)
	}
}
