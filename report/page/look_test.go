//go:build look

package page

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"snag/recording"
	"snag/recording/rectest"
	"snag/verdict"
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
		var html []byte
		if filepath.IsAbs(name) { // a recording elsewhere
			r, err := recording.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			if base := name + ".baseline"; exists(base) {
				if r.Baseline, err = recording.Open(base); err != nil {
					t.Fatal(err)
				}
			}

			if html, err = render(verdict.Judge(r)); err != nil {
				t.Fatal(err)
			}
			name = filepath.Base(name)
		} else if folder, file, written := strings.Cut(name, "/"); written { // a written case: suspect/guilty
			c, err := rectest.Load("../../suspects/testdata/" + folder + "/" + file + ".txtar")
			if err != nil {
				t.Fatal(err)
			}
			if html, err = render(verdict.Judge(c.Recording)); err != nil {
				t.Fatal(err)
			}
			name = folder + "-" + file
		} else {
			html = pageOf(t, "../../lab/recordings/"+name+".snag")
		}
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

// shot writes a picture of the screen, or of the whole page.
func (c *chrome) shot(file string, whole bool) {
	c.t.Helper()
	var r struct{ Data string }
	c.call("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": whole}, &r)
	c.save(file, r.Data)
}

func (c *chrome) save(file, data string) {
	c.t.Helper()
	b, err := base64.StdEncoding.DecodeString(data)
	if err == nil {
		err = os.WriteFile(file, b, 0o644)
	}
	if err != nil {
		c.t.Fatal(fmt.Errorf("write %s: %w", file, err))
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
