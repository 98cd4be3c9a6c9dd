package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"snag/internal/built"
	"snag/serve/agent"
)

// anIncident is the lab's listen-overflow, which goes on until the test ends.
func anIncident(t *testing.T, h *trouble) {
	t.Helper()
	lab := filepath.Join(h.dir, "snag-lab")
	built.Program(t, "snag-lab", lab)
	cmd := exec.Command(lab, "run", "listen-overflow", "--keep", "--for", "2s", "--ignore-elsewhere", "--snag", h.snag, "--out", filepath.Join(h.dir, "lab"))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	var said strings.Builder
	for s := bufio.NewScanner(out); s.Scan(); {
		fmt.Fprintln(&said, s.Text())
		if strings.HasPrefix(s.Text(), "kept for at most") {
			go func() {
				for s.Scan() { // it must not wait for a reader
				}
			}()
			return
		}
	}
	t.Fatalf("the incident does not begin: %s", said.String())
}

// investigation is a session of the official SDK's client with snag mcp.
type investigation struct {
	*mcp.ClientSession
	t        *testing.T
	pid      int
	progress atomic.Int64
}

func investigate(t *testing.T, h *trouble) *investigation {
	t.Helper()
	i := &investigation{t: t}
	cmd := exec.Command(h.snag, "mcp", "--ring", filepath.Join(h.dir, "ring"))
	cmd.Env, cmd.Stderr = append(os.Environ(), "TMPDIR="+h.tmp), os.Stderr
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) { i.progress.Add(1) },
	})
	var err error
	if i.ClientSession, err = c.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil); err != nil {
		t.Fatal(err)
	}
	i.pid = cmd.Process.Pid
	t.Cleanup(func() { _ = i.Close() })
	return i
}

// call calls a tool, and notes both for docs/mcp.md.
func (i *investigation) call(ctx context.Context, name string, arguments map[string]any) (text string, structured []byte) {
	i.t.Helper()
	p := &mcp.CallToolParams{Name: name, Arguments: arguments}
	p.SetProgressToken(name)
	r, err := i.CallTool(ctx, p)
	if err != nil {
		i.t.Error(name, err)
		return "", nil
	}
	text = r.Content[0].(*mcp.TextContent).Text
	asked, _ := json.Marshal(arguments)
	structured, _ = json.Marshal(r.StructuredContent)
	i.t.Logf("%s %s\n%s", name, asked, text)
	if r.IsError || len(text) > 12_000 || len(structured) > 12_000 {
		i.t.Errorf("%s: %d and %d bytes, error %v: %s", name, len(text), len(structured), r.IsError, text)
	}
	return text, structured
}

func (i *investigation) resource(uri string) string {
	i.t.Helper()
	r, err := i.ReadResource(i.t.Context(), &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		i.t.Error(uri, err)
		return ""
	}
	i.t.Logf("%s\n%.1500s", uri, r.Contents[0].Text)
	return r.Contents[0].Text
}

// A whole investigation of a real incident: the culprit, its evidence, the plan, the rows behind it.
func TestAnAgentInvestigates(t *testing.T) {
	h := newTrouble(t)
	anIncident(t, h)
	i := investigate(t, h)
	text, structured := i.call(t.Context(), "find", map[string]any{"for": "6s"})
	first, _, _ := strings.Cut(text, "\n")
	if !strings.HasPrefix(first, "CULPRIT: ") || !strings.Contains(text, "CULPRIT listen-overflow (") || !strings.Contains(text, "   for, decisive: ") {
		t.Fatalf("%s", text)
	}
	if n := i.progress.Load(); n < 5 {
		t.Errorf("%d reports of progress in 6 s", n)
	}
	var a agent.Answer
	if err := json.Unmarshal(structured, &a); err != nil || a.Standing != "culprit" || a.Recording != "r1" {
		t.Fatalf("%v %+v", err, a)
	}
	var entry string
	for _, f := range a.Findings {
		if f.Suspect == "listen-overflow" {
			entry = f.ID
		}
	}
	if got := i.resource("snag://recording/r1/entry/" + strings.ReplaceAll(entry, "#", "%23")); !strings.Contains(got, `"suspect":"listen-overflow"`) || !strings.Contains(got, `"series":[`) {
		t.Errorf("%s", got)
	}
	if got := i.resource("snag://recording/r1/table/sockets?limit=2"); strings.Count(got, "\n") != 3 || !strings.Contains(got, `"rows":2`) {
		t.Errorf("%s", got)
	}
	if got := i.resource("snag://recording/r1/contents"); !strings.HasPrefix(got, "host ") {
		t.Errorf("%s", got)
	}
	if plan, _ := i.call(t.Context(), "plan", map[string]any{"recording": "r1"}); !strings.Contains(plan, "listen(fd, ") {
		t.Errorf("%s", plan)
	}
	var two sync.WaitGroup // calls at a time
	two.Go(func() {
		if again, _ := i.call(t.Context(), "judge", map[string]any{"recording": a.Path}); !strings.Contains(again, "CULPRIT listen-overflow (") || !strings.Contains(again, "recording r1:") {
			t.Errorf("%s", again)
		}
	})
	two.Go(func() { i.call(t.Context(), "suspects", map[string]any{"name": "listen-overflow"}) })
	two.Wait()
	i.cancelled(h)
}

// cancelled: a recording that the client cancels ends, and leaves nothing behind.
func (i *investigation) cancelled(h *trouble) {
	i.t.Helper()
	ctx, cancel := context.WithCancel(i.t.Context())
	began := i.progress.Load()
	go func() {
		for i.progress.Load() < began+2 {
			time.Sleep(50 * time.Millisecond)
		}
		cancel()
	}()
	p := &mcp.CallToolParams{Name: "find", Arguments: map[string]any{"for": "1m"}}
	p.SetProgressToken("cancelled")
	if _, err := i.CallTool(ctx, p); err == nil {
		i.t.Error("a cancelled find has an answer")
	}
	var left []string
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if left, _ = filepath.Glob(filepath.Join(h.tmp, "snag-*")); len(left) == 1 && len(childrenOf(i.pid)) == 0 {
			return
		}
	}
	i.t.Errorf("10 s after a cancelled find there are %v, and the processes %v", left, childrenOf(i.pid))
}

func childrenOf(pid int) (all []string) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range tasks {
		b, _ := os.ReadFile(file)
		all = append(all, strings.Fields(string(b))...)
	}
	return all
}

// A client that is killed leaves no recording running.
func TestAnAgentThatIsGone(t *testing.T) {
	h := newTrouble(t)
	i := investigate(t, h)
	go func() {
		_, _ = i.CallTool(context.Background(), &mcp.CallToolParams{Name: "find", Arguments: map[string]any{"for": "1m"}})
	}()
	var finds []string
	for end := time.Now().Add(10 * time.Second); len(finds) == 0 && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		finds = childrenOf(i.pid)
	}
	if len(finds) != 1 {
		t.Fatalf("find runs as %v", finds)
	}
	if err := syscall.Kill(i.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if _, err := os.Stat("/proc/" + finds[0]); err != nil {
			return
		}
	}
	t.Error("its find goes on")
}
