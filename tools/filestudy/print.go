package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// writeList keeps what was found of each file.
func writeList(path string, all []result) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	e := json.NewEncoder(f)
	for _, r := range all {
		if err := e.Encode(r); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return f.Close()
}

// readPeers takes what other programs said of each file from such a list.
func readPeers(path string) (map[string]map[string]bool, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	peers := map[string]map[string]bool{}
	for d := json.NewDecoder(f); ; {
		var r result
		if err := d.Decode(&r); errors.Is(err, io.EOF) {
			return peers, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		peers[r.Path] = r.Peer
	}
}

// headlines counts what snag's first line says of the captures in which tshark sees something of a
// class, and of those in which it sees nothing.
func headlines(w io.Writer, all []result) {
	said := []string{"culprit", "unproved", "nothing-wrong"}
	fmt.Fprintf(w, "\n| of captures in which tshark sees | files | a culprit | something wrong, nobody named | nothing wrong | else |\n|---|---|---|---|---|---|\n")
	for _, class := range append(slices.Clone(classes), "nothing of these") {
		n, by := 0, map[string]int{}
		for _, r := range all {
			if r.Peer == nil || r.Error != "" {
				continue
			}
			if class == "nothing of these" && !anyOf(r.Peer) || r.Peer[class] {
				n++
				by[r.Standing]++
			}
		}
		fmt.Fprintf(w, "| %s | %d |", class, n)
		for _, s := range said {
			fmt.Fprintf(w, " %d |", by[s])
			n -= by[s]
		}
		fmt.Fprintf(w, " %d |\n", n)
	}
}

func anyOf(classes map[string]bool) bool {
	for _, seen := range classes {
		if seen {
			return true
		}
	}
	return false
}

// counts of one class: both saw it, snag alone, the other alone, neither.
type counts struct{ both, snag, peer, neither int }

// print writes the tables.
func print(w io.Writer, all []result, large int) {
	formats, failed, unknown, faults := map[string]int{}, map[string]int{}, 0, 0
	for _, r := range all {
		switch {
		case strings.HasPrefix(r.Error, "panic"), r.Error == "timeout":
			faults++
			fmt.Fprintf(w, "FAULT %s: %s\n", r.Path, r.Error)
		case strings.Contains(r.Error, "unrecognised"):
			unknown++
		case r.Error != "":
			failed[r.Error[strings.LastIndex(r.Error, ": ")+1:]]++
		default:
			formats[r.Format]++
		}
	}
	fmt.Fprintf(w, "%d files: %d panics or timeouts, %d of no known kind, %d too large\n\n| kind | files |\n|---|---|\n", len(all)+large, faults, unknown, large)
	for _, name := range sorted(formats) {
		fmt.Fprintf(w, "| %s | %d |\n", name, formats[name])
	}
	for _, text := range sorted(failed) {
		fmt.Fprintf(w, "| not read: %s | %d |\n", strings.TrimSpace(text), failed[text])
	}
	headlines(w, all)
	confusion(w, all)
	numbers(w, all)
}

// confusion is the table of captures.
func confusion(w io.Writer, all []result) {
	by, captures := map[string]*counts{}, 0
	var lines []string
	for _, c := range classes {
		by[c] = &counts{}
	}
	for _, r := range all {
		if r.Peer == nil {
			continue
		}
		captures++
		for _, c := range classes {
			switch n := by[c]; {
			case r.Snag[c] && r.Peer[c]:
				n.both++
			case r.Snag[c]:
				n.snag++
				lines = append(lines, fmt.Sprintf("- %s: snag alone: %s", c, r.Path))
			case r.Peer[c]:
				n.peer++
				lines = append(lines, fmt.Sprintf("- %s: tshark alone: %s (%s)", c, r.Path, r.Standing))
			default:
				n.neither++
			}
		}
	}
	if captures == 0 {
		return
	}
	fmt.Fprintf(w, "\n%d captures beside tshark\n\n| class | both | snag alone | tshark alone | neither | of tshark's | of the others, snag alone |\n|---|---|---|---|---|---|---|\n", captures)
	for _, c := range classes {
		n := by[c]
		fmt.Fprintf(w, "| %s | %d | %d | %d | %d | %s | %s |\n", c, n.both, n.snag, n.peer, n.neither, share(n.both, n.both+n.peer), share(n.snag, n.snag+n.neither))
	}
	slices.Sort(lines)
	fmt.Fprintf(w, "\n%d disagreements\n\n%s\n", len(lines), strings.Join(lines, "\n"))
}

// numbers lists what two programs counted differently.
func numbers(w io.Writer, all []result) {
	equal, of, nothing := map[string]int{}, map[string]int{}, map[string]int{}
	var lines []string
	for _, r := range all {
		if len(r.Compared) == 0 {
			continue
		}
		with, same := r.Compared[0].With, true
		if c := r.Compared[0]; c.Peer == 0 && c.Snag > 0 { // it could not read the file
			nothing[with]++
			continue
		}
		of[with]++
		for _, c := range r.Compared {
			if !c.equal() {
				same = false
				lines = append(lines, fmt.Sprintf("- %s: %s: snag %g, %s %g", r.Path, c.What, c.Snag, c.With, c.Peer))
			}
		}
		if same {
			equal[with]++
		}
	}
	for _, with := range sorted(of) {
		fmt.Fprintf(w, "\n%d of %d files have the same numbers as with %s (within 1 %%); in %d more it found nothing\n", equal[with], of[with], with, nothing[with])
	}
	if len(lines) > 0 {
		fmt.Fprintf(w, "\n%s\n", strings.Join(lines, "\n"))
	}
}

func share(n, of int) string {
	if of == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", float64(n)/float64(of))
}

func sorted(m map[string]int) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b string) int { return m[b] - m[a] })
	return out
}
