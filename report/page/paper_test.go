package page

import (
	"encoding/base64"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestANarrowPage: nothing is wider than a phone, opened or not, and what is drawn over time has most of the width.
func TestANarrowPage(t *testing.T) {
	c := browser(t)
	c.size(390, 844)
	for _, name := range []string{"process-stopped-sick", "busy-thread-sick", "listen-overflow-healthy", "encoder-stall-hls-sick", "lock-convoy-go-sick"} {
		c.open(pageOf(t, "../../lab/recordings/"+name+".snag"))
		for _, open := range []bool{false, true} {
			c.eval(fmt.Sprintf(`document.querySelectorAll('details').forEach(d => { d.open = %t })`, open), nil)
			c.settle()
			var wide float64
			if c.eval(`document.documentElement.scrollWidth`, &wide); wide > 390 {
				t.Errorf("%s is %g px wide (opened: %t)", name, wide, open)
			}
		}
		var least float64
		c.eval(`Math.min(390, ...[...document.querySelectorAll('.charts .u-over, svg.timeline .ground')].map(e => e.getBoundingClientRect().width))`, &least)
		if least < 200 {
			t.Errorf("%s: %g px are left for what is drawn over time", name, least)
		}
		var inSight bool
		c.eval(`(() => { const h = document.querySelector('.hop.culprit'); if (!h) return true; const b = h.getBoundingClientRect(); return b.left >= 0 && b.right <= 390 })()`, &inSight)
		if !inSight {
			t.Errorf("%s: the culprit of the path is out of sight", name)
		}
	}
}

// maxPages is what somebody prints and reads.
const maxPages = 6

// TestPaperIsShort: six pages at most, as the tables have their first rows there; after printing all of them are back.
func TestPaperIsShort(t *testing.T) {
	c := browser(t)
	c.size(1280, 800)
	for i, file := range recordings(t) {
		if i%24 != 0 && !strings.Contains(file, "runtime-pause-g1-sick") && !strings.Contains(file, "server-stall-sick") && file != sick {
			continue
		}
		c.open(pageOf(t, file))
		c.eval(`document.querySelector('#table-facts').open = true`, nil)
		c.settle()
		const facts = `document.querySelectorAll('#table-facts tbody tr').length`
		var before, after int
		c.eval(facts, &before)
		if n := c.pages(); n == 0 || n > maxPages {
			t.Errorf("%s: %d pages", filepath.Base(file), n)
		}
		c.settle()
		if c.eval(facts, &after); before < 20 || after != before {
			t.Errorf("%s: %d rows of the host's settings, %d after printing", filepath.Base(file), before, after)
		}
	}
}

// Some hundred findings, or streams, are six pages too: what a person opens on demand stays shut there.
func TestPaperOfACrowdIsShort(t *testing.T) {
	c := browser(t)
	html, err := render(crowded())
	if err != nil {
		t.Fatal(err)
	}
	for name, page := range map[string][]byte{"findings": html, "streams": streamsPage(t, manyStreams(300))} {
		c.open(page)
		if n := c.pages(); n == 0 || n > maxPages {
			t.Errorf("%s: %d pages", name, n)
		}
	}
}

// pages prints the page, and counts its sheets.
func (c *chrome) pages() int {
	c.t.Helper()
	var pdf struct{ Data string }
	c.call("Page.printToPDF", map[string]any{"printBackground": true, "preferCSSPageSize": true}, &pdf)
	b, err := base64.StdEncoding.DecodeString(pdf.Data)
	if err != nil {
		c.t.Fatal(err)
	}
	return len(regexp.MustCompile(`/Type\s*/Page\b`).FindAll(b, -1))
}
