package page

import (
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// chrome is a window of the browser, in a context of its own: no other window has its size,
// its theme, or what it keeps.
type chrome struct {
	t       testing.TB
	of      *chromium
	session string
	loaded  chan struct{}

	mu      sync.Mutex
	console []string // errors and warnings of the page
	asked   []string // URLs that the page asked for, but its own
}

// browser opens a window, which ends with the test.
func browser(t testing.TB) *chrome {
	t.Helper()
	c := &chrome{t: t, of: started(t), loaded: make(chan struct{}, 1)}
	var context struct{ BrowserContextID string }
	c.call("Target.createBrowserContext", nil, &context)
	t.Cleanup(func() {
		if err := c.of.call("", "Target.disposeBrowserContext", map[string]any{"browserContextId": context.BrowserContextID}, nil); err != nil {
			t.Error(err)
		}
	})
	var target struct{ TargetID string }
	c.call("Target.createTarget", map[string]any{"url": "about:blank", "browserContextId": context.BrowserContextID}, &target)
	var session struct{ SessionID string }
	c.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
	c.session = session.SessionID
	c.of.mu.Lock()
	c.of.windows[c.session] = c
	c.of.mu.Unlock()
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		c.call(domain+".enable", nil, nil)
	}
	return c
}

func (c *chrome) event(method string, params json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch method {
	case "Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled":
		c.console = append(c.console, string(params))
	case "Network.requestWillBeSent":
		var p struct{ Request struct{ URL string } }
		json.Unmarshal(params, &p)
		c.asked = append(c.asked, p.Request.URL)
	case "Page.loadEventFired":
		select {
		case c.loaded <- struct{}{}:
		default:
		}
	}
}

func (c *chrome) call(method string, params, result any) {
	c.t.Helper()
	if err := c.of.call(c.session, method, params, result); err != nil {
		c.t.Fatal(err)
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
