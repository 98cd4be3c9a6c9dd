package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"snag/internal/mcp"
	"snag/recording"
	"snag/recording/rectest"
	"snag/report"
	"snag/suspects"
	"snag/verdict"
)

// documentOf is the verdict on a case written by hand.
func documentOf(t *testing.T, file string) *report.Document {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "r")
	if err := rectest.Write(file, dir); err != nil {
		t.Fatal(err)
	}
	r, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	d := report.NewDocument(verdict.Judge(r))
	return &d
}

// fake answers commands without running them, and remembers them.
type fake struct {
	mu      sync.Mutex
	asked   [][]string
	answers map[string]string // by the command's name
	lines   string
	err     error
}

func (f *fake) run(_ context.Context, c Command) (Output, error) {
	argv, err := c.Argv()
	if err != nil {
		return Output{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, argv)
	if c.Line != nil {
		for line := range strings.Lines(f.lines) {
			c.Line([]byte(strings.TrimSuffix(line, "\n")))
		}
	}
	return Output{[]byte(f.answers[c.Name]), 0}, f.err
}

func (f *fake) last() string {
	if len(f.asked) == 0 {
		return ""
	}
	return strings.Join(f.asked[len(f.asked)-1], " ")
}

func newFake(t *testing.T) (*fake, *mcp.Server, *desk) {
	t.Helper()
	doc, err := json.Marshal(documentOf(t, "../../suspects/testdata/udp-receive-buffer-full/guilty.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	plan := `{"version":1,"for":{"suspect":"x","recording":"/r"},"changes":[{"id":"1","target":{"kind":"sysctl","name":"net.core.rmem_max"},"now":"1","then":"2","why":"w"}]}`
	f := &fake{answers: map[string]string{"find": string(doc), "judge": string(doc), "read": string(doc), "incidents show": string(doc), "tune plan": plan,
		"compare": `{"version":1,"outcome":"worse","sentence":"worse: all"}`, "incidents": `{"id":1,"start":"2026-01-02T03:04:05Z","standing":"culprit","hurt":true,"judgements":1}` + "\n"}}
	o := Options{Version: "test", Ring: "/ring", Run: f.run, NewFolder: func() (string, error) { return os.MkdirTemp(t.TempDir(), "snag-") }}
	s := Server(o)
	return f, s, s.Resources.(resources).desk
}

func callTool(t *testing.T, s *mcp.Server, name, arguments string) (mcp.Result, error) {
	t.Helper()
	for _, tool := range s.Tools {
		if tool.Name == name {
			return tool.Call(t.Context(), json.RawMessage(arguments), func(float64, float64, string) {})
		}
	}
	t.Fatalf("no tool %s", name)
	return mcp.Result{}, nil
}

// fits checks JSON against a schema.
func fits(t *testing.T, schema []byte, text []byte) {
	t.Helper()
	compiled(t, schema)(text)
}

// compiled is a check against a schema.
func compiled(t *testing.T, schema []byte) func(text []byte) {
	t.Helper()
	s, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", s); err != nil {
		t.Fatal(err)
	}
	of, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return func(text []byte) {
		t.Helper()
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err == nil {
			err = of.Validate(v)
		}
		if err != nil {
			t.Errorf("%v in %.2000s", err, text)
		}
	}
}

func schemaOfTool(s *mcp.Server, name string) []byte {
	for _, tool := range s.Tools {
		if tool.Name == name {
			return tool.Output
		}
	}
	return nil
}

// The tools are these, and each answers within its bounds by its schema, with the command that a person would type.
func TestTools(t *testing.T) {
	f, s, _ := newFake(t)
	var names []string
	for _, tool := range s.Tools {
		names = append(names, tool.Name)
	}
	if got := strings.Join(names, " "); got != "find judge look_back compare suspects incidents read plan" {
		t.Errorf("the tools are %s", got)
	}
	for _, c := range []struct{ tool, arguments, ran, first string }{
		{"find", `{"for":"10s","port":1935,"symptom":["a","b"],"budget":"0"}`, "find --json --for=10s --port=1935 --symptom=a --symptom=b --budget=0 --ring=/ring --out=", "CULPRIT: UDP receive buffer full"},
		{"judge", `{"recording":"r1","baseline":"/good","slo":"20ms"}`, "judge --json --slo=20ms --baseline=/good -- /", "CULPRIT: "},
		{"judge", `{"incident":7}`, "incidents show --json --ring=/ring -- 7", "CULPRIT: "},
		{"look_back", `{"at":"14:17:28","unit":"nginx"}`, "find --json --at=14:17:28 --unit=nginx --ring=/ring --out=", "CULPRIT: "},
		{"compare", `{"a":"r1","b":"/b"}`, "compare --json -- /", "WORSE: all"},
		{"compare", `{"at":"14:17","with":"13:17"}`, "compare --json --at=14:17 --with=13:17 --ring=/ring", "WORSE: all"},
		{"incidents", `{"limit":3}`, "incidents --json --ring=/ring", "1 INCIDENTS"},
		{"read", `{"files":["/a","--out=x","-"]}`, "read --json --quiet --out=", "CULPRIT: "},
		{"plan", `{"recording":"r1","recorded":true}`, "tune plan --json --leave-overdue --recorded -- /", "1 change for a person to apply"},
		{"plan", `{"role":"cache","rate":"40mbit"}`, "tune plan --json --leave-overdue --audit --role=cache --rate=40mbit", "1 change"},
		{"suspects", `{}`, "", fmt.Sprint(len(suspects.All), " suspects")},
		{"suspects", `{"name":"listen-overflow"}`, "", "# listen-overflow"},
	} {
		r, err := callTool(t, s, c.tool, c.arguments)
		if err != nil {
			t.Errorf("%s %s: %v", c.tool, c.arguments, err)
			continue
		}
		if !strings.HasPrefix(f.last(), c.ran) && c.ran != "" {
			t.Errorf("%s %s runs %s", c.tool, c.arguments, f.last())
		}
		if !strings.HasPrefix(r.Text, c.first) || len(r.Text) > mostBytes || len(r.Structured) > mostBytes {
			t.Errorf("%s %s: %d and %d bytes: %.300s", c.tool, c.arguments, len(r.Text), len(r.Structured), r.Text)
		}
		fits(t, schemaOfTool(s, c.tool), r.Structured)
	}
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	all := ""
	for _, argv := range f.asked {
		all += strings.Join(argv, " ") + "\n"
	}
	if want := " -- /a " + wd + "/--out=x " + wd + "/-\n"; !strings.Contains(all, want) {
		t.Errorf("a file's name is taken for a flag or for standard input: %s", all)
	}
}

// Arguments that do not fit are refused with a reason before anything runs.
func TestWrongArguments(t *testing.T) {
	f, s, _ := newFake(t)
	for _, c := range []struct{ tool, arguments, want string }{
		{"find", `{"load":"http://x/"}`, `unknown argument "load"`},
		{"find", `{"out":"/etc/x"}`, `unknown argument "out"`},
		{"find", `{"port":"1935"}`, "port is a string"},
		{"judge", `{}`, "give either recording or incident"},
		{"judge", `{"recording":"r9","incident":1}`, "give either recording or incident"},
		{"judge", `{"recording":"a\u0000b"}`, "not a file path"},
		{"judge", `{"incident":-1}`, "numbers begin at 1"},
		{"judge", `{"incident":1,"slo":"1s"}`, "for recording, not for incident"},
		{"look_back", `{"to":"14:00"}`, "give one of at, from and last"},
		{"compare", `{"a":"x"}`, "give either a and b, or at and with"},
		{"compare", `{"a":"x","b":"y","at":"1:00","with":"2:00"}`, "give either a and b, or at and with"},
		{"suspects", `{"name":"nobody"}`, `no suspect is called "nobody"`},
		{"incidents", `{"limit":100000}`, "1 to 100"},
		{"read", `{"files":[]}`, "give 1 to 1000 files"},
		{"plan", `{"rate":"40mbit"}`, "give role as well"},
		{"plan", `{}`, "give recording, or role"},
		{"plan", `{"recording":"x","apply":true}`, `unknown argument "apply"`},
	} {
		if _, err := callTool(t, s, c.tool, c.arguments); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v", c.tool, c.arguments, err)
		}
	}
	if len(f.asked) > 0 {
		t.Errorf("it ran %q", f.asked)
	}
}

// A recording whose command failed is removed, and is none of the session's.
func TestAFailedFindLeavesNothing(t *testing.T) {
	f, s, d := newFake(t)
	f.err = errors.New("no BPF")
	if _, err := callTool(t, s, "find", `{}`); err == nil || err.Error() != "no BPF" {
		t.Errorf("%v", err)
	}
	_, dir, _ := strings.Cut(f.last(), "--out=")
	if _, err := os.Stat(dir); !os.IsNotExist(err) || dir == "" || len(d.recordings.list()) > 0 {
		t.Errorf("%s is there (%v), %v", dir, err, d.recordings.list())
	}
}

// The second recording of the host waits for the first.
func TestOneRecordingAtATime(t *testing.T) {
	_, s, d := newFake(t)
	d.measuring <- struct{}{} // somebody records
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	waited := make(chan string, 10)
	_, err := s.Tools[0].Call(ctx, nil, func(_, _ float64, text string) { waited <- text })
	if err == nil || err.Error() != "cancelled" || <-waited != "waiting for another call to end" {
		t.Errorf("%v", err)
	}
	<-d.measuring
	if _, err := callTool(t, s, "find", `{}`); err != nil {
		t.Error(err)
	}
}
