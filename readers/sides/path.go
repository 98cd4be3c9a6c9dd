package sides

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"snag/internal/sorting"
)

// Path are captures of which some may lie on one path: a connection that is on three of
// them is joined once, between the outermost two, and those between tell the hops.
type Path struct {
	Captures []*Capture
	Pairs    []*Both // each with each, as many connections as they share
}

// member is a connection as one capture has it.
type member struct{ capture, id int }

// NewPath matches all captures, each with each.
func NewPath(all []*Capture) *Path {
	p := &Path{Captures: all}
	for i, a := range all {
		for _, b := range all[i+1:] {
			p.Pairs = append(p.Pairs, Match(a, b))
		}
	}
	return p
}

// pair is the place of two captures among Pairs; i < j.
func (p *Path) pair(i, j int) int {
	n := len(p.Captures)
	return i*n - i*(i+1)/2 + j - i - 1
}

// at is the two captures' place in Captures.
func (p *Path) at(b *Both) (i, j int) {
	return slices.Index(p.Captures, b.captures[0]), slices.Index(p.Captures, b.captures[1])
}

// Hops are what two captures share, and what those between them add.
type Hops struct {
	*Both
	// Between are the captures on the way, each joined with the one that is nearest to
	// the client, nearest first.
	Between []*Both
	Names   []string // of the captures between: their files'
}

// Ends are the names of the captures at the client's end and at the server's.
func (h Hops) Ends() (client, server string) {
	a, b := filepath.Base(h.Path(0)), filepath.Base(h.Path(1))
	if h.FirstNear() < 0 {
		a, b = b, a
	}
	return a, b
}

// Text says which captures are on the way, in its order.
func (h Hops) Text() string {
	client, server := h.Ends()
	way := append(append([]string{client}, h.Names...), server)
	return fmt.Sprintf("%s: %d connections, each counted once", strings.Join(way, " → "), h.Connections())
}

// Hops parts the connections: each is joined between the first and the last capture on
// its path, once.
func (p *Path) Hops() (out []Hops) {
	known := map[member]bool{}
	groups := map[member][]member{}
	root := map[member]member{}
	var find func(m member) member
	find = func(m member) member {
		if up, ok := root[m]; ok && up != m {
			r := find(up)
			root[m] = r
			return r
		}
		return m
	}
	type link struct {
		pair int
		c    *connection
	}
	links := map[[2]member]link{}
	var order []member
	for n, b := range p.Pairs {
		i, j := p.at(b)
		for _, c := range b.conns {
			x, y := member{i, c.ids[0]}, member{j, c.ids[1]}
			links[[2]member{x, y}] = link{n, c}
			for _, m := range []member{x, y} {
				if !known[m] {
					known[m] = true
					order = append(order, m)
				}
			}
			if a, b := find(x), find(y); a != b {
				root[b] = a
			}
		}
	}
	for _, m := range order {
		r := find(m)
		groups[r] = append(groups[r], m)
	}
	outer := map[int][]*connection{}
	between := map[int]map[int][]*connection{} // by outer pair, by the capture between: with the client's
	done := map[member]bool{}
	for _, m := range order {
		r := find(m)
		if done[r] {
			continue
		}
		done[r] = true
		all := p.along(groups[r])
		first, last := all[0], all[len(all)-1]
		l, ok := links[ordered(first, last)]
		if !ok { // matched with one between them and not with each other
			for k := 1; k < len(all); k++ {
				if l, ok := links[ordered(all[k-1], all[k])]; ok {
					outer[l.pair] = append(outer[l.pair], l.c)
				}
			}
			continue
		}
		outer[l.pair] = append(outer[l.pair], l.c)
		for _, mid := range all[1 : len(all)-1] {
			if h, ok := links[ordered(first, mid)]; ok {
				if between[l.pair] == nil {
					between[l.pair] = map[int][]*connection{}
				}
				between[l.pair][mid.capture] = append(between[l.pair][mid.capture], h.c)
			}
		}
	}
	for n, b := range p.Pairs {
		if len(outer[n]) == 0 {
			continue
		}
		h := Hops{Both: &Both{captures: b.captures, conns: byID(outer[n])}}
		i, j := p.at(b)
		first := i
		if b.FirstNear() < 0 {
			first = j
		}
		var mids []int
		for mid := range between[n] {
			mids = append(mids, mid)
		}
		sorting.By(mids, func(x, y int) int { return p.nearer(x, y) })
		for _, mid := range mids {
			pair := p.Pairs[p.pair(min(first, mid), max(first, mid))]
			h.Between = append(h.Between, &Both{captures: pair.captures, conns: byID(between[n][mid])})
			h.Names = append(h.Names, filepath.Base(p.Captures[mid].Path))
		}
		out = append(out, h)
	}
	return out
}

func byID(all []*connection) []*connection {
	sorting.By(all, func(a, b *connection) int { return a.ids[0] - b.ids[0] })
	return all
}

func ordered(a, b member) [2]member {
	if a.capture > b.capture {
		a, b = b, a
	}
	return [2]member{a, b}
}

// along are the members of one connection, one of each capture, the client's side first:
// from there the answer to the SYN takes longest.
func (p *Path) along(all []member) []member {
	seen := map[int]bool{}
	var out []member
	for _, m := range all {
		if !seen[m.capture] {
			seen[m.capture] = true
			out = append(out, m)
		}
	}
	took := func(m member) int64 {
		f := p.Captures[m.capture].index.flows[m.id]
		return max(f.handshake(request), f.handshake(answer)) // who opened it may have been guessed wrong
	}
	sorting.StableBy(out, func(a, b member) int {
		x, y := took(a), took(b)
		if x >= 0 && y >= 0 && apartBy(x, y) {
			if x > y {
				return -1
			}
			return 1
		}
		return p.nearer(a.capture, b.capture)
	})
	return out
}

// nearer compares two captures by which most connections pass first.
func (p *Path) nearer(a, b int) int {
	if a == b {
		return 0
	}
	n := p.Pairs[p.pair(min(a, b), max(a, b))].FirstNear()
	if a > b {
		n = -n
	}
	return -n
}
