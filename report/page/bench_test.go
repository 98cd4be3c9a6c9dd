package page

import "testing"

// BenchmarkLoad is how long Chromium takes to load a page, from the start of the navigation to
// the end of the load event, as the page itself counts it. A page is to be there within 1 s.
func BenchmarkLoad(b *testing.B) {
	crowd, err := render(crowded())
	if err != nil {
		b.Fatal(err)
	}
	for _, page := range []struct {
		name string
		html []byte
	}{
		{"incident", pageOf(b, sick)},
		{"crowd", crowd}, // 3,000 sockets, 600 findings
		{"streams", streamsPage(b, manyStreams(1000))},
		{"day", streamsPage(b, aDay())},
	} {
		b.Run(page.name, func(b *testing.B) {
			c := browser(b)
			c.size(1280, 800)
			sum := 0.0
			for b.Loop() {
				ms := 0.0
				c.open(page.html)
				c.eval(`performance.getEntriesByType('navigation')[0].loadEventEnd`, &ms)
				sum += ms
			}
			b.ReportMetric(sum/float64(b.N), "load-ms")
			b.ReportMetric(float64(len(page.html)), "B")
		})
	}
}
