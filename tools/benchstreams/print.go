package main

import "fmt"

func printRows(rows []row) {
	base := rows[0]
	fmt.Println("| reader | streams | CPU a stream, % of a core | times snag | streams a core | resident (RSS) at the end, MiB | of it private (RssAnon) | private a stream | peak RSS, MiB | first figures, s |\n|---|---|---|---|---|---|---|---|---|---|")
	for _, r := range rows {
		first := "–"
		if r.first > 0 {
			first = fmt.Sprintf("%.1f", r.first.Seconds())
		}
		fmt.Printf("| %s | %d | %.3f | %.1f | %.0f | %.1f | %.1f | %.2f | %.0f | %s |\n",
			r.name, r.streams, 100*r.cpu, r.cpu/base.cpu, 1/r.cpu, r.memory, r.private, r.private/float64(r.streams), r.peak, first)
	}
}
