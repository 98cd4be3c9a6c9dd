//go:build look

package page

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestLookStreams takes pictures of pages of streams:
// LOOK=/tmp/shots go test -tags look ./report/page -run LookStreams
func TestLookStreams(t *testing.T) {
	c := browser(t)
	for name, html := range map[string][]byte{
		"many": streamsPage(t, manyStreams(1000)), "day": streamsPage(t, aDay()), "layers": streamsPage(t, layered()),
	} {
		for _, theme := range []string{"light", "dark"} {
			for _, width := range []int{390, 1280, 1920} {
				c.size(width, 1600)
				c.prefer(theme)
				c.open(html)
				c.shot(filepath.Join(os.Getenv("LOOK"), fmt.Sprintf("streams-%s-%d-%s.png", name, width, theme)), false)
			}
		}
		t.Log(name, len(html), c.complaints())
	}
}
