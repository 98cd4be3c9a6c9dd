package hls

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"snag/probes/streams/stream"
)

// origin serves a fragmented MP4 as low-latency HLS with preload hints: a part each
// 200 ms, two a segment, and each part is listed only listedAfter it is there.
type origin struct {
	init     []byte
	parts    [][]byte
	open     bool // parts are ranges of their segment, whose end is not announced
	never    bool // hints are announced and not honoured
	withdraw int  // the part of this number is hinted under a name that never comes
	deltas   bool

	mu     sync.Mutex
	begin  time.Time
	loads  map[string]int
	listed int // parts that a playlist listed
	early  int // requests for parts that none had listed
	ahead  int // parts that were given before one listed them
}

const listedAfter = 120 * time.Millisecond

// due is when a part is there.
func (o *origin) due(i int) time.Time { return o.begin.Add(time.Duration(i) * partEvery) }

func (o *origin) start() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.begin.IsZero() {
		o.begin = time.Now()
	}
}

// asked notes a request, and tells whether it is for a part that is not listed yet.
func (o *origin) asked(key string, part int) (early bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.loads[key]++
	if early = part >= o.listed; early {
		o.early++
	}
	return early
}

// give writes a part once it is there.
func (o *origin) give(w http.ResponseWriter, part int, b []byte) {
	time.Sleep(time.Until(o.due(part)))
	_, _ = w.Write(b)
	w.(http.Flusher).Flush()
	o.mu.Lock()
	defer o.mu.Unlock()
	if part >= o.listed {
		o.ahead++
	}
}

func (o *origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.start()
	name := strings.Trim(r.URL.Path, "/")
	switch i, _ := strconv.Atoi(strings.TrimLeft(name, "ps")); {
	case name == "live.m3u8":
		o.playlist(w, r)
	case name == "init.mp4":
		_, _ = w.Write(o.init)
	case name[0] == 'p' && i < len(o.parts):
		if o.asked(name, i) && o.never {
			http.NotFound(w, r)
			return
		}
		o.give(w, i, o.parts[i])
	case name[0] == 's' && 2*i+1 < len(o.parts):
		o.segment(w, r, i)
	default:
		<-r.Context().Done() // what was announced and never comes
	}
}

// segment writes the two parts of a segment from an offset on, as they come.
func (o *origin) segment(w http.ResponseWriter, r *http.Request, i int) {
	from := 0
	_, _ = fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from)
	first := 2 * i
	if from >= len(o.parts[first]) {
		first++
	}
	o.asked(fmt.Sprintf("s%d from %d", i, from), first)
	if from > 0 {
		w.WriteHeader(http.StatusPartialContent)
	}
	for k := 2 * i; k <= 2*i+1; k++ {
		b := o.parts[k]
		if from >= len(b) {
			from -= len(b)
			continue
		}
		o.give(w, k, b[from:])
		from = 0
	}
}

// playlist holds back until what is asked for is listed.
func (o *origin) playlist(w http.ResponseWriter, r *http.Request) {
	msn, _ := strconv.Atoi(r.URL.Query().Get("_HLS_msn"))
	part, _ := strconv.Atoi(r.URL.Query().Get("_HLS_part"))
	want := min(2*msn+part, len(o.parts)-1)
	if r.URL.Query().Has("_HLS_msn") {
		time.Sleep(time.Until(o.due(want).Add(listedAfter)))
	}
	n := 1 // how many are listed
	for n < len(o.parts) && time.Since(o.due(n)) >= listedAfter {
		n++
	}
	b := bytes.NewBufferString("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-PART-INF:PART-TARGET=0.2\n#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES")
	skip := 0
	if o.deltas {
		b.WriteString(",CAN-SKIP-UNTIL=6")
		if r.URL.Query().Get("_HLS_skip") == "YES" && n >= 4 {
			skip = n/2 - 1
			o.asked("a delta update", -1)
		}
	}
	b.WriteString("\n")
	if skip > 0 {
		fmt.Fprintf(b, "#EXT-X-SKIP:SKIPPED-SEGMENTS=%d\n", skip)
	} else {
		b.WriteString("#EXT-X-MAP:URI=\"init.mp4\"\n")
	}
	at := 0
	for i := 2 * skip; i < n; i++ {
		if o.open {
			fmt.Fprintf(b, "#EXT-X-PART:DURATION=0.2,URI=\"s%d\",BYTERANGE=%d@%d\n", i/2, len(o.parts[i]), at)
			at += len(o.parts[i])
		} else {
			fmt.Fprintf(b, "#EXT-X-PART:DURATION=0.2,URI=\"p%d\"\n", i)
		}
		if i%2 == 1 {
			fmt.Fprintf(b, "#EXTINF:0.4,\ns%d\n", i/2)
			at = 0
		}
	}
	switch {
	case n == len(o.parts):
		b.WriteString("#EXT-X-ENDLIST\n")
	case n == o.withdraw:
		b.WriteString("#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"x\"\n")
	case o.open:
		fmt.Fprintf(b, "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"s%d\",BYTERANGE-START=%d\n", n/2, at)
	default:
		fmt.Fprintf(b, "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"p%d\"\n", n)
	}
	_, _ = w.Write(b.Bytes())
	o.mu.Lock()
	defer o.mu.Unlock()
	o.listed = max(o.listed, n)
}

// read reads all that an origin has and checks that every part came once.
func (o *origin) read(t *testing.T) *kept {
	t.Helper()
	init, all := fragments(fixture(t, "mp4", "testdata", "low-latency.mp4"))
	o.init, o.parts, o.loads = init, all[:8], map[string]int{}
	at := serve(t, o)
	k := &kept{}
	wantEnd(t, open(t, context.Background(), at+"/live.m3u8", k))
	k.wantPictures(t, 40, 8)
	if n := k.count(stream.SegmentsFailed); n != 0 {
		t.Errorf("%d parts failed", n)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for name, n := range o.loads {
		if n != 1 && name != "a delta update" && !o.never {
			t.Errorf("%s was loaded %d times", name, n)
		}
	}
	return k
}

func TestPreloadHints(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]*origin{
		"a file a part":                         {},
		"ranges whose end is not known":         {open: true},
		"delta updates":                         {deltas: true},
		"one is withdrawn, the part comes else": {withdraw: 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o.read(t)
			if o.early < 2 || o.ahead < 2 {
				t.Errorf("%d requests were for parts that no playlist had listed, %d parts were given before; want most of 7: %v", o.early, o.ahead, o.loads)
			}
			if o.deltas && o.loads["a delta update"] == 0 {
				t.Error("no delta update was asked for")
			}
		})
	}
}

// Hints that are not honoured cost nothing but a remark.
func TestHintsThatAreNotHonoured(t *testing.T) {
	t.Parallel()
	o := &origin{never: true}
	k := o.read(t)
	if len(k.notes) != 1 || !strings.Contains(k.notes[0], "does not give them before they are listed (404") {
		t.Errorf("notes: %q", k.notes)
	}
	if o.early != mostRefused {
		t.Errorf("%d parts were asked for ahead, want %d", o.early, mostRefused)
	}
}
