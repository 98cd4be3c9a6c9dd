package export

import (
	"fmt"
	"slices"
	"strings"

	"snag/remedies/plan"
)

// qdiscActions make a whole queue discipline: at a boot there is no older one whose
// other options could be kept.
func (n in) qdiscActions(c plan.Change) (all []action, why string) {
	t := c.Target
	whole, why := n.wholeQdisc(c)
	if why != "" {
		return nil, why
	}
	at := []string{"root"}
	if parent := parentOf(t); parent != "root" {
		_, minor, ok := strings.Cut(parent, ":")
		if !ok {
			return nil, "its parent " + parent + " is not a class"
		}
		if !n.underMQ(t) {
			return nil, "its parent " + parent + " is a class that somebody else makes at a boot: add it there (tc qdisc replace … parent " + parent + ")"
		}
		// The handle of an mq that the kernel made is another after each boot.
		all = run(tcProgram, "qdisc", "replace", "dev", t.Device, "root", "handle", "1:", "mq")
		at = []string{"parent", "1:" + minor}
	}
	if len(whole) == 0 {
		return nil, "it is the kernel's default: at a boot there is nothing to be done"
	}
	args := append([]string{tcProgram, "qdisc", "replace", "dev", t.Device}, at...)
	return append(all, action{args: append(args, whole...)}), ""
}

// underMQ reports whether a class is one of an mq: each is a queue of the interface.
func (n in) underMQ(t plan.Target) bool {
	major, _, _ := strings.Cut(parentOf(t), ":")
	root := strings.TrimPrefix(n.facts.Qdiscs[Place(rootOf(t))], "default ")
	return t.Queue != nil || strings.Trim(major, "0") == "" || strings.HasPrefix(root+" ", "mq ")
}

// wholeQdisc is a queue discipline as it shall be, in the words of tc(8): its kind and
// the options that a plan can set. The others are the kernel's own at a boot. None: the
// kernel's default.
func (n in) wholeQdisc(c plan.Change) (words []string, why string) {
	t := c.Target
	if t.Name == "" {
		return lasting(strings.Fields(c.Then)), ""
	}
	now, ok := n.facts.Qdiscs[Place(t)]
	if !ok {
		return nil, "which queue discipline it is the plan does not say: export it on the host itself"
	}
	words = lasting(strings.Fields(strings.TrimPrefix(now, "default ")))
	for _, other := range n.plan.Changes { // of the same queue discipline
		o := other.Target
		if o.Kind == "qdisc" && o.Device == t.Device && parentOf(o) == parentOf(t) && o.Netns == t.Netns && o.Name != "" {
			words = setOption(words, o.Name, other.Then)
		}
	}
	return words, ""
}

// Place is where a queue discipline is, as Facts.Qdiscs has it: "eth0 root", "eth0
// 8001:1 in shop" in a network namespace.
func Place(t plan.Target) string {
	place := t.Device + " " + parentOf(t)
	if t.Netns != "" {
		place += " in " + t.Netns
	}
	return place
}

func rootOf(t plan.Target) plan.Target {
	t.Parent, t.Queue = "root", nil
	return t
}

// parentOf is the parent as tc(8) names it. A queue's is its class of the mq, from 1 and
// hexadecimal; whose handle it is stands open: ":1".
func parentOf(t plan.Target) string {
	switch {
	case t.Queue != nil:
		return fmt.Sprintf(":%x", *t.Queue+1)
	case t.Parent == "":
		return "root"
	}
	return t.Parent
}

// qdiscOptions are the options that are written, by kind: those that tc(8) and
// systemd know since long. toggles are words that stand alone.
var qdiscOptions = map[string]string{
	"pfifo": "limit", "bfifo": "limit", "pfifo_fast": "", "mq": "",
	"tbf":      "rate burst limit",
	"sfq":      "limit quantum perturb divisor flows depth",
	"fq":       "limit flow_limit quantum initial_quantum maxrate buckets orphan_mask refill_delay ce_threshold",
	"fq_codel": "limit flows target interval quantum memory_limit ce_threshold",
}

var toggles = []string{"pacing", "nopacing", "ecn", "noecn", "headdrop"}

// never are values that stand for "no limit": the kernel's own, and too large for some
// versions of tc.
var never = []string{"34359738360bit", "4294967295us"}

// lasting leaves out of "KIND option value …" what is not written.
func lasting(words []string) (out []string) {
	if len(words) == 0 || words[0] == "default" {
		return nil
	}
	known := strings.Fields(qdiscOptions[words[0]])
	out = words[:1:1]
	for i := 1; i < len(words); i++ {
		switch {
		case slices.Contains(toggles, words[i]):
			out = append(out, words[i])
		case slices.Contains(known, words[i]) && i+1 < len(words):
			if !slices.Contains(never, words[i+1]) {
				out = append(out, words[i], words[i+1])
			}
			i++
		}
	}
	return out
}

// setOption gives an option of "KIND option value …" another value.
func setOption(words []string, name, value string) []string {
	if slices.Contains(toggles, name) { // its value is whether
		words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == name || w == "no"+name })
		if value == "0" || value == "off" {
			return append(words, "no"+name)
		}
		return append(words, name)
	}
	for i := 1; i+1 < len(words); i++ {
		if words[i] == name {
			out := slices.Clone(words)
			out[i+1] = value
			return out
		}
	}
	return append(slices.Clone(words), name, value)
}
