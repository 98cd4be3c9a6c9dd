package page

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// chromium is a headless Chromium that is driven over its debugging pipe: JSON messages
// that end in a NUL, on the child's descriptors 3 and 4 (the DevTools protocol). The few
// methods that the tests need are not worth a library.
type chromium struct {
	cmd     *exec.Cmd
	profile string // its folder
	in, out *os.File
	ended   chan struct{} // closed when it says nothing more

	mu      sync.Mutex
	id      int
	waiting map[int]chan reply
	windows map[string]*chrome // by their sessions
}

type reply struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

// theBrowser is one for all tests, which have windows of their own in it: its start takes
// longer than most of them. It is nil until a test needs it.
var theBrowser struct {
	sync.Mutex
	*chromium
}

func TestMain(m *testing.M) {
	code := m.Run()
	if theBrowser.chromium != nil {
		theBrowser.stop()
	}
	os.Exit(code)
}

// started is the browser of all tests.
func started(t testing.TB) *chromium {
	t.Helper()
	theBrowser.Lock()
	defer theBrowser.Unlock()
	if theBrowser.chromium == nil {
		b, err := startChromium()
		if err != nil {
			t.Fatal(err)
		}
		theBrowser.chromium = b
	}
	return theBrowser.chromium
}

func startChromium() (*chromium, error) {
	path, err := exec.LookPath("chromium")
	if err != nil {
		return nil, fmt.Errorf("the browser tests need Chromium: %w: make setup installs it", err)
	}
	b := &chromium{ended: make(chan struct{}), waiting: map[int]chan reply{}, windows: map[string]*chrome{}}
	if b.profile, err = os.MkdirTemp("", "snag-chromium-"); err != nil {
		return nil, err
	}
	toChild, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, fromChild, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	b.in, b.out = in, out
	b.cmd = exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
		"--disable-background-networking", "--no-first-run", "--force-color-profile=srgb", "--user-data-dir="+b.profile,
		"--remote-debugging-pipe", "about:blank")
	b.cmd.ExtraFiles = []*os.File{toChild, fromChild}
	if err := b.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	toChild.Close()
	fromChild.Close()
	go b.read(bufio.NewReaderSize(out, 1<<20))
	return b, nil
}

func (b *chromium) stop() {
	b.send("", "Browser.close", nil)
	late := time.AfterFunc(5*time.Second, func() { b.cmd.Process.Kill() })
	b.cmd.Wait()
	late.Stop()
	b.in.Close()
	b.out.Close()
	os.RemoveAll(b.profile)
}

// read hands each answer to who waits for it, and each event to its window.
func (b *chromium) read(r *bufio.Reader) {
	defer close(b.ended)
	for {
		line, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m struct {
			reply
			ID        int
			SessionID string
			Method    string
			Params    json.RawMessage
		}
		if json.Unmarshal(line[:len(line)-1], &m) != nil {
			continue
		}
		b.mu.Lock()
		answered, window := b.waiting[m.ID], b.windows[m.SessionID]
		delete(b.waiting, m.ID)
		b.mu.Unlock()
		switch {
		case answered != nil:
			answered <- m.reply
		case window != nil:
			window.event(m.Method, m.Params)
		}
	}
}

// send asks a session for something, "" for the browser itself.
func (b *chromium) send(session, method string, params any) (chan reply, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.id++
	m := map[string]any{"id": b.id, "method": method}
	if params != nil {
		m["params"] = params
	}
	if session != "" {
		m["sessionId"] = session
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	answer := make(chan reply, 1)
	b.waiting[b.id] = answer
	_, err = b.in.Write(append(raw, 0))
	return answer, err
}

// call sends and waits for the answer.
func (b *chromium) call(session, method string, params, result any) error {
	answer, err := b.send(session, method, params)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	select {
	case r := <-answer:
		if r.Error != nil {
			return fmt.Errorf("%s: %s", method, r.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(r.Result, result); err != nil {
				return fmt.Errorf("%s: %w", method, err)
			}
		}
		return nil
	case <-b.ended:
		return fmt.Errorf("%s: Chromium has ended", method)
	case <-time.After(60 * time.Second):
		return fmt.Errorf("%s: Chromium gave no answer within 60 s", method)
	}
}
