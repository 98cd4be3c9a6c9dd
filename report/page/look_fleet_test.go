//go:build look

package page

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestLookFleet takes pictures of the page of many hosts.
func TestLookFleet(t *testing.T) {
	dir := os.Getenv("LOOK")
	if dir == "" {
		t.Fatal("LOOK names no folder for the pictures")
	}
	f, url := newFakeFleet(t, "three")
	c := browser(t)
	for _, of := range []string{"three", "empty", "never", "failed", "many"} {
		for _, width := range []int{1200, 390} {
			for _, theme := range []string{"light", "dark"} {
				c.prefer(theme)
				c.size(width, 900)
				f.seen(t, c, url, of)
				c.shot(filepath.Join(dir, fmt.Sprintf("fleet-%s-%d-%s.png", of, width, theme)), of != "many")
				if of == "many" { // it is very long
					c.eval(`document.getElementById('timeline').scrollIntoView()`, nil)
					c.settle()
					c.shot(filepath.Join(dir, fmt.Sprintf("fleet-timeline-%d-%s.png", width, theme)), false)
				}
			}
		}
	}
}
