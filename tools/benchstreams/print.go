package main

import (
	"fmt"
	"time"
)

const head = `| reader | streams | start-up, ms of CPU per stream | CPU per stream, % of a core | times snag | with the start-up, times snag | streams per core | resident (RSS), MiB | of it private (RssAnon) | private a stream | peak RSS, MiB | first figures, s |
|---|---|---|---|---|---|---|---|---|---|---|---|
`

func printRows(n int, p *plan, rows []row) {
	fmt.Printf("**%d streams** of %d kb/s, side by side: start-up is the first %s, then %s are measured.\n\n", n, p.kbps, p.start, p.steady)
	fmt.Print(head)
	for _, r := range rows {
		if r.gone == nil {
			fmt.Print(r.line(rows[0], p.steady))
		}
	}
	fmt.Println()
	for _, r := range rows {
		if r.gone != nil {
			fmt.Printf("%s: not measured: %v\n\n", r.name, r.gone)
		}
	}
	fmt.Printf("How the streams came, as snag saw it last: %s.\n\n", rows[0].said)
}

// line is a reader's, beside what snag used in the same time.
func (r row) line(snag row, steady time.Duration) string {
	first := "–"
	if r.first > 0 {
		first = fmt.Sprintf("%.1f", r.first.Seconds())
	}
	return fmt.Sprintf("| %s | %d | %.1f | %.3f | %.1f | %.1f | %.0f | %.1f | %.1f | %.2f | %.0f | %s |\n",
		r.name, r.streams, 1000*r.start.Seconds()/float64(r.streams), 100*r.each(), r.each()/snag.each(), r.whole(steady)/snag.whole(steady), 1/r.each(),
		r.used.resident, r.used.private, r.used.private/float64(r.streams), r.used.peak, first)
}

// each is s of CPU per stream and second, once it has started.
func (r row) each() float64 { return r.steady / float64(r.streams) }

// whole is s of CPU per stream in all, the start-up with the time that was measured.
func (r row) whole(steady time.Duration) float64 {
	return r.start.Seconds()/float64(r.streams) + r.each()*steady.Seconds()
}

// printUnmeasured says what of it was not measured.
func printUnmeasured(p *plan, why string) {
	fmt.Println("Not measured:")
	if why != "" {
		fmt.Println("-", why)
	}
	if maximum(p.streams) > p.peers {
		fmt.Printf("- The peers on all streams: each reads %d at the most.\n", p.peers)
	}
	fmt.Print(`- A network: all is on loopback, where a reader also pays for the server's handling of its acknowledgements.
- RTMPS, RTSP, HLS and MPEG-TS; the table in a terminal; ` + "`--out`, `--frames`, `--host`" + `.
- A start from a cold page cache. Start-up includes some ms of ` + "`ip netns exec`" + ` for each process.
`)
	if p.before == "" {
		fmt.Println("- An older snag beside it: BEFORE=FILE.")
	}
}
