//go:build look

package page

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestLookBoard takes pictures of snag serve's page and of its form.
func TestLookBoard(t *testing.T) {
	dir := os.Getenv("LOOK")
	if dir == "" {
		t.Fatal("LOOK names no folder for the pictures")
	}
	f := &fakeServe{began: time.Now()}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	c := browser(t)
	for name, width := range map[string]int{"board": 1280, "board-narrow": 390} {
		for _, theme := range []string{"light", "dark"} {
			c.prefer(theme)
			c.size(width, 900)
			was := f.looks.Load()
			c.visit(server.URL + "/")
			await(t, "the first look", func() bool { return f.looks.Load() > was })
			c.settle()
			c.shot(filepath.Join(dir, name+"-"+theme+".png"), false)
		}
	}
	c.size(1280, 900)
	c.prefer("light")
	f.out.Store(true)
	c.visit(server.URL + "/")
	c.shot(filepath.Join(dir, "login.png"), false)
}
