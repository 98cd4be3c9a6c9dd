package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"snag/recording"
	"snag/recording/rectest"
	"snag/verdict"
)

// recordings are the lab's: real incidents with their healthy twins.
func recordings(t testing.TB) []string {
	t.Helper()
	all, err := filepath.Glob("../../lab/recordings/*.snag")
	if err != nil || len(all) < 10 {
		t.Fatalf("%d recordings of the lab (%v)", len(all), err)
	}
	return all
}

// verdicts are kept: several tests read the same ones, and none changes them.
var verdicts = map[string]*verdict.Verdict{}

func judged(t testing.TB, file string) *verdict.Verdict {
	t.Helper()
	if v := verdicts[file]; v != nil {
		return v
	}
	r, err := recording.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	verdicts[file] = verdict.Judge(r)
	return verdicts[file]
}

func pageOf(t testing.TB, file string) []byte {
	t.Helper()
	out, err := render(judged(t, file))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// cases are all written cases of suspects and verdict, and the lab's recordings.
func cases(t *testing.T) map[string]*verdict.Verdict {
	t.Helper()
	out := map[string]*verdict.Verdict{}
	for _, pattern := range []string{"../../suspects/testdata/*/*.txtar", "../../verdict/testdata/*.txtar"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, f := range files {
			c, err := rectest.Load(f)
			if err != nil {
				t.Fatal(err)
			}
			out[f] = verdict.Judge(c.Recording)
		}
	}
	for _, f := range recordings(t) {
		out[f] = judged(t, f)
	}
	return out
}

func TestDataFitTheirSchema(t *testing.T) {
	c := jsonschema.NewCompiler()
	for id, file := range map[string]string{"https://snag.invalid/schema/page/1": "../page.schema.json", "https://snag.invalid/schema/page/verdict.schema.json": "../verdict.schema.json"} {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		doc, err := jsonschema.UnmarshalJSON(f)
		if err != nil {
			t.Fatal(err)
		}
		if id != doc.(map[string]any)["$id"] {
			delete(doc.(map[string]any), "$id") // here it is read from beside the page's
		}
		if err := c.AddResource(id, doc); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := c.Compile("https://snag.invalid/schema/page/1")
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range cases(t) {
		d := New(v, limits[0])
		d.Comparison = &Comparison{
			Outcome: "can't tell", Sentence: "can't tell", A: "A", B: "B",
			Parties: []ComparedParty{{Subject: "shop", Accounts: []ComparedAccount{{Account: "computing", A: 1, B: 2}}}}, Changes: []ComparedChange{{What: "drops"}},
		}
		b, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		whole(t, name, v, d)
	}
}

// whole checks what a schema can't: what points to something points to what is
// there, and every culprit is marked.
func whole(t *testing.T, name string, v *verdict.Verdict, d Data) {
	t.Helper()
	entries, marked := map[string]bool{"": true}, map[string]bool{}
	for _, e := range d.Verdict.Verdict {
		entries[e.ID] = true
	}
	for _, p := range d.Scene.Paths {
		ids := map[string]bool{}
		for _, n := range p.Nodes {
			if ids[n.ID] {
				t.Errorf("%s: the hop %s is there twice", name, n.ID)
			}
			ids[n.ID] = true
			for _, m := range n.Marks {
				marked[m.Entry] = true
				if !entries[m.Entry] {
					t.Errorf("%s: a mark of %s, which is not an entry", name, m.Entry)
				}
			}
		}
		for _, e := range p.Edges {
			if !ids[e.From] || !ids[e.To] {
				t.Errorf("%s: an edge from %s to %s", name, e.From, e.To)
			}
		}
	}
	for _, e := range v.With(verdict.Culprit) {
		if !marked[e.ID] {
			t.Errorf("%s: the culprit %s at %s is not in the scene", name, e.ID, e.Subject.Name)
		}
	}
	for _, c := range d.Charts {
		for _, l := range c.Lines {
			if len(l.T) < 2 || len(l.T) != len(l.V) {
				t.Errorf("%s: %s has %d times and %d values", name, c.ID, len(l.T), len(l.V))
			}
			for i := 1; i < len(l.T); i++ {
				if l.T[i] <= l.T[i-1] {
					t.Errorf("%s: %s goes back in time at %v", name, c.ID, l.T[i])
				}
			}
		}
	}
	for _, table := range d.Tables {
		for _, r := range table.Rows {
			if len(r) != len(table.Columns) {
				t.Fatalf("%s: %d cells under %d columns of %s", name, len(r), len(table.Columns), table.Name)
			}
		}
	}
}

// Every culprit of the lab has a series to look at; the selectors of evidence are
// read back.
func TestCulpritsHaveCharts(t *testing.T) {
	for _, file := range recordings(t) {
		v := judged(t, file)
		charts := New(v, limits[0]).Charts
		if len(v.With(verdict.Culprit)) > 0 && len(charts) == 0 {
			t.Errorf("%s: no chart", file)
		}
		for _, e := range v.Entries {
			for _, piece := range e.Evidence {
				for _, text := range piece.Series {
					if _, err := parseSelector(text); err != nil {
						t.Errorf("%s: %v", file, err)
					}
				}
			}
		}
	}
}

func TestTheSameRecordingGivesTheSameBytes(t *testing.T) {
	for _, file := range recordings(t)[:6] {
		if !bytes.Equal(pageOf(t, file), pageOf(t, file)) {
			t.Errorf("%s: two pages differ", file)
		}
	}
}

// The bundle stands inside the page's own elements: it may not end them, and text
// may not become markup.
func TestBundle(t *testing.T) {
	if bytes.Contains(bytes.ToLower(script), []byte("</script")) || bytes.Contains(bytes.ToLower(style), []byte("</style")) {
		t.Error("the bundle ends its element")
	}
	if len(script) < 10_000 || len(style) < 1_000 {
		t.Fatalf("%d bytes of script, %d of style: make ui", len(script), len(style))
	}
	files, err := filepath.Glob("../../ui/src/*/*.ts")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("} {
			if strings.Contains(string(b), word) {
				t.Errorf("%s uses %s: names of a host are text", f, word)
			}
		}
	}
}

// crowd is a recording of many sockets, of which many lose datagrams.
func crowd(sockets, losing int) *recording.Recording {
	start := rectest.Start
	r := &recording.Recording{Manifest: recording.Manifest{Version: 1, Host: "crowd", Start: start, End: start.Add(30e9), Netns: 1, CPUs: 8}}
	for _, m := range recording.Measures {
		r.Coverage = append(r.Coverage, recording.Coverage{Probe: m, State: recording.CoverageOK, Since: start})
	}
	for i := range sockets {
		owner := recording.FDRef{PID: 1000 + i/10, Comm: fmt.Sprintf("sink%d", i/10), FD: i % 10}
		for s := range 31 {
			t := start.Add(time.Duration(s) * time.Second)
			k := recording.Socket{T: t, Netns: 1, Inode: uint64(5000 + i), Cookie: uint64(9000 + i), Proto: "udp", State: "UNCONN",
				Local: fmt.Sprintf("10.0.%d.%d:5004", i/250, i%250), Owners: []recording.FDRef{owner}, RcvBuf: 65536, RecvQ: 60000}
			if i < losing {
				k.Drops = uint64(s * (100 + i))
				if s < 30 {
					r.Drops = append(r.Drops, recording.Drop{T: t, Reason: "SOCKET_RCVBUFF", Place: "__udp_queue_rcv_skb", Netns: 1, Proto: "udp", Dst: k.Local,
						Src: "10.9.9.9:4000", N: uint64(100 + i), Inode: k.Inode, PID: owner.PID, Comm: owner.Comm})
				}
			}
			r.Sockets = append(r.Sockets, k)
		}
	}
	return r
}

// crowded is the verdict of a crowd with some hundred findings.
func crowded() *verdict.Verdict {
	v := verdict.Judge(crowd(3000, 200))
	for _, state := range []verdict.State{verdict.Culprit, verdict.Contributing, verdict.Risk} {
		for i, e := range v.With(state) { // a suspect keeps its worst twenty: here are more
			for n := range 30 {
				e.ID = fmt.Sprintf("%s-%d-%d", e.ID, i, n)
				v.Entries = append(v.Entries, e)
			}
		}
	}
	return v
}

func TestACrowdStaysSmall(t *testing.T) {
	v := crowded()
	found := len(v.With(verdict.Culprit)) + len(v.With(verdict.Contributing)) + len(v.With(verdict.Risk))
	if found < 200 {
		t.Fatalf("only %d findings: the case does not show what it should", found)
	}
	html, err := render(v)
	if err != nil {
		t.Fatal(err)
	}
	if len(html) > MaxBytes {
		t.Errorf("%d bytes", len(html))
	}
	d := New(v, limits[0])
	if len(d.Scene.Paths) > limits[0].Paths || len(d.Charts) > limits[0].Charts || len(d.LeftOut) == 0 {
		t.Errorf("%d paths, %d charts, left out: %q", len(d.Scene.Paths), len(d.Charts), d.LeftOut)
	}
	for _, table := range d.Tables {
		if len(table.Rows) > limits[0].Rows || table.Name == "sockets" && table.Total != 3000 {
			t.Errorf("%s: %d of %d rows", table.Name, len(table.Rows), table.Total)
		}
	}
	c := browser(t)
	c.size(1280, 800)
	c.open(html)
	for _, complaint := range c.complaints() {
		t.Error(complaint)
	}
}

func TestWhatHoldsTheHostHangsAtWhoSuffers(t *testing.T) {
	c, err := rectest.Load("../../suspects/testdata/disk-stall/guilty.txtar")
	if err != nil {
		t.Fatal(err)
	}
	d := New(verdict.Judge(c.Recording), limits[0])
	for _, n := range d.Scene.Paths[0].Nodes {
		if n.Lane == LaneProcess && n.Kind == "disk" && len(n.Marks) > 0 && n.Marks[0].State == "culprit" {
			return
		}
	}
	t.Errorf("no disk is marked in the lane of who waits for it: %+v", d.Scene.Paths[0].Nodes)
}
