package page

import (
	"fmt"
	"sort"
	"strings"

	"snag/recording"
)

// Flame is a profile as a tree of stacks, outermost frame first. Its nodes are
// parallel lists in the order in which a reader walks them, each after its
// parent and the siblings that weigh more; node 0 is the whole.
type Flame struct {
	Name  string  `json:"name"`  // oncpu, offcpu
	Title string  `json:"title"` // "On a CPU"
	Unit  string  `json:"unit"`  // samples or s
	Total float64 `json:"total"`
	Note  string  `json:"note"` // what it can't tell: cut stacks, frames without a name
	// Frames are the different frames; Objects where each lies, "" in the kernel.
	Frames  []string `json:"frames"`
	Objects []string `json:"objects"`
	Kinds   []string `json:"kinds"` // process, thread, user, kernel, reason

	Parent []int     `json:"parent"` // index of a node; -1 of node 0
	Frame  []int     `json:"frame"`  // index in Frames; -1 of node 0
	Value  []float64 `json:"value"`  // in Unit, children included
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
	stacks := map[int]recording.Stack{}
	for _, s := range b.r.Stacks {
		stacks[s.ID] = s
	}
	if f, ok := b.onCPU(stacks); ok {
		out = append(out, f)
	}
	if f, ok := b.offCPU(stacks); ok {
		out = append(out, f)
	}
	return out
}

func (b *builder) onCPU(stacks map[int]recording.Stack) (Flame, bool) {
	var root flameNode
	var broken flameDoubt
	for _, row := range b.r.OnCPU {
		s := stacks[row.Stack]
		root.add(append(b.whose(row.PID, row.TID, row.Comm), framesOf(s)...), float64(row.N))
		broken.add(s, float64(row.N))
	}
	f := Flame{Name: "oncpu", Title: "On the CPU", Unit: "samples", Total: root.value, Note: broken.note(root.value)}
	return b.flatten(f, &root), root.value > 0
}

func (b *builder) offCPU(stacks map[int]recording.Stack) (Flame, bool) {
	var root flameNode
	var broken flameDoubt
	for _, row := range b.r.OffCPU {
		s := stacks[row.Stack]
		way := append(b.whose(row.PID, row.TID, row.Comm), framesOf(s)...)
		root.add(append(way, flameFrame{name: "waits: " + row.Reason, kind: frameReason}), row.Sum)
		broken.add(s, row.Sum)
	}
	f := Flame{Name: "offcpu", Title: "Off the CPU, by what was waited for", Unit: "s", Total: round(root.value), Note: broken.note(root.value)}
	return b.flatten(f, &root), root.value > 0
}

// whose are the frames above a stack: the process, and the thread where it has a
// name of its own.
func (b *builder) whose(pid, tid int, comm string) []flameFrame {
	name := b.ownerOf(pid, comm)
	out := []flameFrame{{name: name, kind: frameProcess}}
	if tid != 0 && tid != pid && comm != "" && !strings.HasPrefix(name, comm+"[") {
		out = append(out, flameFrame{name: comm, kind: frameThread})
	}
	return out
}

// ownerOf is the process' own name; a row of a thread has the thread's.
func (b *builder) ownerOf(pid int, comm string) string {
	if p := b.s.Process(pid); p != nil {
		comm = p.Last().Comm
	}
	return fmt.Sprintf("%s[%d]", comm, pid)
}

// framesOf gives a stack from its outermost frame on.
func framesOf(s recording.Stack) []flameFrame {
	var out []flameFrame
	if s.Cut != "" {
		out = append(out, flameFrame{name: "[cut: " + s.Cut + "]", kind: frameUser})
	}
	for i := len(s.Frames) - 1; i >= 0; i-- {
		f := flameFrame{name: s.Frames[i], kind: frameUser}
		if i < len(s.Objects) {
			f.object = s.Objects[i]
		}
		if s.Kernel < 0 || i < s.Kernel {
			f.kind = frameKernel
		}
		out = append(out, f)
	}
	return out
}

// flameDoubt sums up the stacks that tell less than they should.
type flameDoubt struct{ none, cut float64 }

func (d *flameDoubt) add(s recording.Stack, value float64) {
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
	return fmt.Sprintf("%.0f %% of it has a stack that was cut, %.0f %% none", 100*d.cut/total, 100*d.none/total)
}

// flatten writes a tree as lists, the heaviest first, and leaves out what is too
// small to be seen once the limit of nodes is reached.
func (b *builder) flatten(f Flame, root *flameNode) Flame {
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
			walk(k, len(f.Parent)-1)
		}
	}
	walk(root, 0)
	if left > 0 {
		b.leaveOut("the smallest branches of the profile %q (snag profile --read has them)", f.Title)
	}
	return f
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
