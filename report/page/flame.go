package page

import (
	"fmt"
	"sort"
	"strings"

	"snag/recording"
	"snag/report/profile"
)

// Flame is a profile as a tree of stacks, outermost frame first. Its nodes are
// parallel lists in the order in which a reader walks them, each after its
// parent and the siblings that weigh more; node 0 is the whole.
type Flame struct {
	Name  string  `json:"name"`  // oncpu, offcpu
	Title string  `json:"title"` // "On a CPU"
	Unit  string  `json:"unit"`  // samples, s, or the event that is counted
	Total float64 `json:"total"`
	Note  string  `json:"note"` // what it can't tell: cut stacks, frames without a name
	// Frames are the different frames; Objects where each lies, "" in the kernel.
	Frames  []string `json:"frames"`
	Objects []string `json:"objects"`
	Kinds   []string `json:"kinds"` // process, thread, user, kernel, reason

	Parent []int     `json:"parent"` // index of a node; -1 of node 0
	Frame  []int     `json:"frame"`  // index in Frames; -1 of node 0
	Value  []float64 `json:"value"`  // in Unit, children included
	// Before is each node's share of the baseline's profile, 0 to 1; 0 where it was not
	// there. Absent without a baseline that has such a profile.
	Before []float64 `json:"before,omitempty"`
	// Chance are the nodes whose share differs from Before by no more than chance does.
	Chance []int `json:"chance,omitempty"`
}

// Kinds of frames.
const (
	frameProcess = "process"
	frameThread  = "thread"
	frameUser    = "user"
	frameKernel  = "kernel"
	frameReason  = "reason"
)

type flameFrame struct{ name, object, kind string }

type flameNode struct {
	frame flameFrame
	value float64
	kids  map[flameFrame]*flameNode
}

func (n *flameNode) kid(f flameFrame) *flameNode {
	k := n.kids[f]
	if k == nil {
		k = &flameNode{frame: f}
		if n.kids == nil {
			n.kids = map[flameFrame]*flameNode{}
		}
		n.kids[f] = k
	}
	return k
}

// add puts one stack into the tree.
func (n *flameNode) add(way []flameFrame, value float64) {
	n.value += value
	for _, f := range way {
		n = n.kid(f)
		n.value += value
	}
}

// flames are the profiles of the recording; none where none was taken.
func (b *builder) flames() []Flame {
	out := []Flame{}
	for _, g := range b.graphs() {
		f := g.Flame
		root, broken := tree(b.r, g.kind, g.event)
		if root.value <= 0 {
			continue
		}
		f.Total, f.Note = round(root.value), broken.note(root.value)
		order := b.flatten(&f, root)
		if b.r.Baseline != nil {
			before, _ := tree(b.r.Baseline, g.kind, g.event)
			compare(&f, order, before)
			if away := missing(before, root); away > 0 && before.value > 0 {
				f.Note = joinNotes(f.Note, fmt.Sprintf("%.1f %% of the baseline's is in stacks that are not here", 100*away/before.value))
			}
			if g.kind == profile.OnCPU {
				f.Chance = b.chance(&f, g.event)
			}
		}
		out = append(out, f)
	}
	return out
}

// graph is a flame graph that is to be made.
type graph struct {
	Flame
	kind, event string
}

// mostEvents have a graph of their own.
const mostEvents = 4

// graphs are one of what ran, others of what else was sampled (page faults), and
// that of waits.
func (b *builder) graphs() []graph {
	var out []graph
	for i, event := range profile.Events(b.r) {
		f := Flame{Name: profile.OnCPU, Title: "On the CPU", Unit: "samples"}
		if i > 0 {
			f.Name = fmt.Sprintf("%s-%d", profile.OnCPU, i+1)
		}
		if event != "" {
			f.Title, f.Unit = "By "+event, profile.UnitOf(b.r, event)
		}
		if i == mostEvents {
			b.leaveOut("graphs of further events (snag profile --read has them)")
			break
		}
		out = append(out, graph{f, profile.OnCPU, event})
	}
	return append(out, graph{Flame{Name: profile.OffCPU, Title: "Off the CPU, by what was waited for", Unit: "s"}, profile.OffCPU, ""})
}

// tree is a profile's stacks as a tree, and how well they could be walked; an empty
// one where there is no such profile.
func tree(r *recording.Recording, kind, event string) (*flameNode, flameDoubt) {
	var root flameNode
	var broken flameDoubt
	p, err := profile.From(r, profile.Options{Kind: kind, Event: event})
	if err != nil {
		return &root, broken // not recorded: the coverage says why
	}
	for i := range p.Samples {
		s := &p.Samples[i]
		value := float64(s.N)
		if kind == profile.OffCPU || p.Event != "" {
			value = s.Value
		}
		root.add(wayOf(s), value)
		broken.add(s, value)
	}
	return &root, broken
}

// wayOf gives a sample from its process on: the thread where it has a name of its
// own, the stack from its outermost frame on, what was waited for.
func wayOf(s *profile.Sample) []flameFrame {
	out := []flameFrame{{name: process(s.PID, s.Process), kind: frameProcess}}
	if s.TID != 0 && s.TID != s.PID && s.Thread != "" && s.Thread != s.Process {
		out = append(out, flameFrame{name: s.Thread, kind: frameThread})
	}
	if s.Cut != "" {
		out = append(out, flameFrame{name: "[cut: " + s.Cut + "]", kind: frameUser})
	}
	for i := len(s.Frames) - 1; i >= 0; i-- {
		f := flameFrame{name: s.Frames[i].Function, object: s.Frames[i].Object, kind: frameUser}
		if s.Frames[i].Kernel {
			f.kind = frameKernel
		}
		out = append(out, f)
	}
	if s.Reason != "" {
		out = append(out, flameFrame{name: "waits: " + s.Reason, kind: frameReason})
	}
	return out
}

// flameDoubt sums up the stacks that tell less than they should.
type flameDoubt struct{ none, cut float64 }

func (d *flameDoubt) add(s *profile.Sample, value float64) {
	switch {
	case len(s.Frames) == 0:
		d.none += value
	case s.Cut != "":
		d.cut += value
	}
}

func (d *flameDoubt) note(total float64) string {
	if total == 0 || d.none+d.cut == 0 {
		return ""
	}
	var parts []string
	if d.cut > 0 {
		parts = append(parts, fmt.Sprintf("%.0f %% of it has a stack that is cut short", 100*d.cut/total))
	}
	if d.none > 0 {
		parts = append(parts, fmt.Sprintf("%.0f %% of it has no stack", 100*d.none/total))
	}
	return strings.Join(parts, ", ")
}

// flatten writes a tree as lists, the heaviest first, and leaves out what is too
// small to be seen once the limit of nodes is reached. It returns the nodes in the
// order of the lists.
func (b *builder) flatten(f *Flame, root *flameNode) []*flameNode {
	order := []*flameNode{root}
	least := leastShown(root, b.limits.Flame)
	index := map[flameFrame]int{}
	f.Frames, f.Objects, f.Kinds = []string{}, []string{}, []string{}
	f.Parent, f.Frame, f.Value = []int{-1}, []int{-1}, []float64{round(root.value)}
	left := 0
	var walk func(n *flameNode, at int)
	walk = func(n *flameNode, at int) {
		for _, k := range heaviest(n) {
			if k.value < least {
				left++
				continue
			}
			i, ok := index[k.frame]
			if !ok {
				i = len(f.Frames)
				index[k.frame] = i
				f.Frames, f.Objects, f.Kinds = append(f.Frames, k.frame.name), append(f.Objects, k.frame.object), append(f.Kinds, k.frame.kind)
			}
			f.Parent, f.Frame, f.Value = append(f.Parent, at), append(f.Frame, i), append(f.Value, round(k.value))
			order = append(order, k)
			walk(k, len(f.Parent)-1)
		}
	}
	walk(root, 0)
	if left > 0 {
		b.leaveOut("the smallest branches of the profile %q (snag profile --read has them)", f.Title)
	}
	return order
}

// leastShown is the weight that a node must have so that no more than most are
// shown.
func leastShown(root *flameNode, most int) float64 {
	var all []float64
	var walk func(n *flameNode)
	walk = func(n *flameNode) {
		for _, k := range n.kids {
			all = append(all, k.value)
			walk(k)
		}
	}
	walk(root)
	if len(all) <= most {
		return 0
	}
	sort.Sort(sort.Reverse(sort.Float64Slice(all)))
	// Of those that weigh the same as the first left out, none: which of them would
	// be chance.
	for _, v := range all[:most] {
		if v == all[most] {
			return all[most] * (1 + 1e-12)
		}
	}
	return all[most-1]
}

func heaviest(n *flameNode) []*flameNode {
	out := make([]*flameNode, 0, len(n.kids))
	for _, k := range n.kids {
		out = append(out, k)
	}
	sort.Slice(out, func(i, j int) bool {
		a, z := out[i], out[j]
		if a.value != z.value {
			return a.value > z.value
		}
		if a.frame.name != z.frame.name {
			return a.frame.name < z.frame.name
		}
		return a.frame.object+a.frame.kind < z.frame.object+z.frame.kind
	})
	return out
}
