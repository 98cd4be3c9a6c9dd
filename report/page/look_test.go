//go:build look

package page

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLook takes pictures of pages for a person to look at:
// LOOK=/tmp/shots go test -tags look ./report/page -run Look
func TestLook(t *testing.T) {
	dir := os.Getenv("LOOK")
	if dir == "" {
		t.Fatal("LOOK names no folder for the pictures")
	}
	names := strings.Fields(os.Getenv("ONLY"))
	if len(names) == 0 {
		for _, f := range recordings(t) {
			names = append(names, strings.TrimSuffix(filepath.Base(f), ".snag"))
		}
	}
	c := browser(t)
	for _, name := range names {
		html := pageOf(t, "../../lab/recordings/"+name+".snag")
		for _, theme := range []string{"light", "dark"} {
			c.size(1280, 800)
			c.prefer(theme)
			c.open(html)
			c.shot(filepath.Join(dir, name+"-"+theme+".png"), false)
			var height int
			c.eval(`document.documentElement.scrollHeight`, &height)
			c.size(1280, height)
			c.settle()
			c.shot(filepath.Join(dir, name+"-"+theme+"-whole.png"), true)
		}
		c.size(480, 900)
		c.prefer("light")
		c.open(html)
		c.shot(filepath.Join(dir, name+"-narrow.png"), false)
		var pdf struct{ Data string }
		c.call("Page.printToPDF", map[string]any{"printBackground": true, "preferCSSPageSize": true}, &pdf)
		c.save(filepath.Join(dir, name+".pdf"), pdf.Data)
		t.Log(name, len(html), c.complaints())
	}
}
