package page

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// chrome drives a headless Chromium over its debugging pipe: JSON messages that
// end in a NUL, on the child's descriptors 3 and 4 (the DevTools protocol). The
// few methods that the tests need are not worth a library.
type chrome struct {
	t       testing.TB
	in      *os.File
	mu      sync.Mutex
	id      int
	waiting map[int]chan reply
	session string
	console []string // errors and warnings of the page
	asked   []string // URLs that the page asked for, but its own
	loaded  chan struct{}
}

type reply struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

// browser starts Chromium; it ends with the test.
func browser(t testing.TB) *chrome {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatalf("the browser tests need Chromium: %v: make setup installs it", err)
	}
	toChild, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, fromChild, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
		"--disable-background-networking", "--no-first-run", "--force-color-profile=srgb", "--user-data-dir="+t.TempDir(),
		"--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{toChild, fromChild}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	toChild.Close()
	fromChild.Close()
	c := &chrome{t: t, in: in, waiting: map[int]chan reply{}, loaded: make(chan struct{}, 1)}
	go c.read(bufio.NewReaderSize(out, 1<<20))
	t.Cleanup(func() {
		c.send("Browser.close", nil)
		done := make(chan struct{})
		go func() { cmd.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(5 * time.Second):
			cmd.Process.Kill()
			<-done
		}
		in.Close()
		out.Close()
	})
	var target struct{ TargetID string }
	c.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var session struct{ SessionID string }
	c.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
	c.session = session.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		c.call(domain+".enable", nil, nil)
	}
	return c
}

func (c *chrome) read(r *bufio.Reader) {
	for {
		b, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m struct {
			reply
			ID     int
			Method string
			Params json.RawMessage
		}
		if json.Unmarshal(b[:len(b)-1], &m) != nil {
			continue
		}
		c.mu.Lock()
		if ch := c.waiting[m.ID]; m.ID != 0 && ch != nil {
			delete(c.waiting, m.ID)
			ch <- m.reply
		}
		switch m.Method {
		case "Runtime.exceptionThrown", "Log.entryAdded":
			c.console = append(c.console, string(m.Params))
		case "Runtime.consoleAPICalled":
			c.console = append(c.console, string(m.Params))
		case "Network.requestWillBeSent":
			var p struct{ Request struct{ URL string } }
			json.Unmarshal(m.Params, &p)
			c.asked = append(c.asked, p.Request.URL)
		case "Page.loadEventFired":
			select {
			case c.loaded <- struct{}{}:
			default:
			}
		}
		c.mu.Unlock()
	}
}

func (c *chrome) send(method string, params any) chan reply {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.id++
	m := map[string]any{"id": c.id, "method": method}
	if params != nil {
		m["params"] = params
	}
	if c.session != "" && method != "Browser.close" {
		m["sessionId"] = c.session
	}
	b, err := json.Marshal(m)
	if err != nil {
		c.t.Error(err)
	}
	ch := make(chan reply, 1)
	c.waiting[c.id] = ch
	c.in.Write(append(b, 0))
	return ch
}

func (c *chrome) call(method string, params, result any) {
	c.t.Helper()
	select {
	case r := <-c.send(method, params):
		if r.Error != nil {
			c.t.Fatalf("%s: %s", method, r.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(r.Result, result); err != nil {
				c.t.Fatalf("%s: %v", method, err)
			}
		}
	case <-time.After(60 * time.Second):
		c.t.Fatalf("%s: Chromium gave no answer within 60 s", method)
	}
}

// eval runs an expression in the page, waits for a promise, and returns its JSON.
func (c *chrome) eval(expression string, result any) {
	c.t.Helper()
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	c.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &r)
	if r.ExceptionDetails != nil {
		c.t.Fatalf("%s\n%s %s", expression, r.ExceptionDetails.Text, r.ExceptionDetails.Exception.Description)
	}
	if result != nil {
		if err := json.Unmarshal(r.Result.Value, result); err != nil {
			c.t.Fatalf("%s gave %s: %v", expression, r.Result.Value, err)
		}
	}
}

// open loads a page from disk and waits for what it draws after its load.
func (c *chrome) open(html []byte) {
	c.t.Helper()
	file := filepath.Join(c.t.TempDir(), "page.html")
	if err := os.WriteFile(file, html, 0o644); err != nil {
		c.t.Fatal(err)
	}
	c.visit("file://" + file)
}

// visit loads a page and waits for what it draws after its load.
func (c *chrome) visit(url string) {
	c.t.Helper()
	c.mu.Lock()
	c.console, c.asked = nil, nil
	c.mu.Unlock()
	c.call("Page.navigate", map[string]any{"url": url}, nil)
	select {
	case <-c.loaded:
	case <-time.After(60 * time.Second):
		c.t.Fatal("the page did not load within 60 s")
	}
	c.settle()
}

// settle waits until the browser has drawn twice.
func (c *chrome) settle() {
	c.t.Helper()
	c.eval(`new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(r, 30))))`, nil)
}

func (c *chrome) size(width, height int) {
	c.t.Helper()
	c.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
}

func (c *chrome) prefer(theme string) {
	c.t.Helper()
	c.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": theme}}}, nil)
}

func (c *chrome) key(name string, modifiers int) {
	c.t.Helper()
	codes := map[string]int{"Tab": 9, "Enter": 13, "ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "Escape": 27}
	text := ""
	if len(name) == 1 {
		text = name
	} else if name == "Enter" {
		text = "\r"
	}
	for _, kind := range []string{"keyDown", "keyUp"} {
		p := map[string]any{"type": kind, "key": name, "code": name, "modifiers": modifiers, "windowsVirtualKeyCode": codes[name]}
		if kind == "keyDown" && text != "" {
			p["text"] = text
		}
		c.call("Input.dispatchKeyEvent", p, nil)
	}
}

// drag pulls the mouse from one point to another.
func (c *chrome) drag(x1, y1, x2, y2 float64) {
	c.t.Helper()
	mouse := func(kind string, x, y float64, buttons int) {
		p := map[string]any{"type": kind, "x": x, "y": y, "buttons": buttons}
		if kind != "mouseMoved" {
			p["button"], p["clickCount"] = "left", 1
		} else if buttons == 1 {
			p["button"] = "left"
		}
		c.call("Input.dispatchMouseEvent", p, nil)
	}
	mouse("mouseMoved", x1, y1, 0)
	mouse("mousePressed", x1, y1, 1)
	for i := 1; i <= 4; i++ {
		mouse("mouseMoved", x1+(x2-x1)*float64(i)/4, y1+(y2-y1)*float64(i)/4, 1)
	}
	mouse("mouseReleased", x2, y2, 0)
	c.settle()
}

// complaints are what the console shows and what the page asked for over a net.
func (c *chrome) complaints() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := append([]string{}, c.console...)
	for i, url := range c.asked {
		if i > 0 {
			out = append(out, "asked for "+url)
		}
	}
	return out
}
