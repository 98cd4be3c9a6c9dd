package export

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"snag/remedies/knob"
	"snag/remedies/plan"
)

// shellBody is what every script does with its list of changes.
//
//go:embed shell.sh
var shellBody string

// shell writes a POSIX shell script: apply, undo, verify. It looks at every value
// before it changes one, and refuses where it is not what the plan found, unless told
// --force. Each word of the plan is quoted; coupled changes stand next to each other.
func shell(n in) Result {
	var r Result
	var head, body strings.Builder
	head.WriteString("#!/bin/sh\n")
	n.head(&head)
	head.WriteString("# Run as root: apply, undo, or verify; --force where values are not what the plan found.\n")
	var all []string
	for _, c := range n.plan.Changes {
		s, why := shellOf(c)
		if why != "" {
			r.Left = append(r.Left, Left{c, why})
			continue
		}
		i := strconv.Itoa(len(all) + 1)
		all = append(all, i)
		body.WriteString("\n")
		about(&body, c)
		fmt.Fprintf(&body, "what_%s() { printf '%%s' %s; }\n", i, shQuote(c.Target.String()))
		fmt.Fprintf(&body, "before_%s() { printf '%%s' %s; }\n", i, shQuote(s.value(c.Now)))
		fmt.Fprintf(&body, "after_%s() { printf '%%s' %s; }\n", i, shQuote(s.value(c.Then)))
		fmt.Fprintf(&body, "now_%s() { get_%s; }\n", i, s.call())
		fmt.Fprintf(&body, "set_%s() { put_%s \"$1\"; }\n", i, s.call())
	}
	if len(all) == 0 {
		return r
	}
	leftOut(&head, r.Left)
	fmt.Fprintf(&body, "\nall=%s\n\n", shQuote(strings.Join(all, " ")))
	r.Files = []File{{Path: "snag-" + n.name + ".sh", Text: head.String() + body.String() + shellBody, Run: true}}
	return r
}

// shellCall is a pair of functions of shellBody, get_ and put_, and what they are
// called with.
type shellCall struct {
	kind  string
	words []string
	// value writes a value as get_ prints it.
	value func(string) string
}

func (s shellCall) call() string {
	text := s.kind
	for _, w := range s.words {
		text += " " + shQuote(w)
	}
	return text
}

func shellOf(c plan.Change) (s shellCall, why string) {
	t := c.Target
	if strings.HasPrefix(t.Netns, "pid:") {
		return s, "its network namespace has no name: ip netns attach gives it one, then make the plan again"
	}
	if c.Now == "" {
		return s, "the script could not take it back: there was none before"
	}
	s = shellCall{kind: t.Kind, value: fields}
	file, isFile := fileOf(t)
	switch {
	case t.Kind == "thp":
		s.kind, s.words, s.value = "choice", []string{t.Netns, file}, choice
	case t.Kind == "rps" || t.Kind == "xps" || t.Kind == "irq":
		s.kind, s.words, s.value = "mask", []string{t.Netns, file}, mask
	case t.Kind == "rfs":
		s.kind, s.words, s.value = "file", []string{t.Netns, file}, roundUp
	case isFile:
		s.kind, s.words = "file", []string{t.Netns, file}
	case t.Kind == "cpu-quota":
		s.kind, s.words = "file", []string{"", "/sys/fs/cgroup" + t.Path + "/cpu.max"}
	case t.Kind == "txqueuelen":
		s.words = []string{t.Netns, t.Device}
	case t.Kind == "qdisc" && t.Name != "":
		if !bareNumber(c.Now) || !bareNumber(c.Then) {
			return s, "tc shows " + t.Name + " rounded and in other units than the plan: snag tune apply sets it, and --as unit at a boot"
		}
		s.words, s.value = []string{t.Netns, t.Device, parentOf(t), t.Name}, func(v string) string { return strings.TrimRight(v, "pb") }
	case t.Kind == "route":
		s.words = []string{t.Netns, t.Route, t.Device, t.Name}
	case ethtoolAt[t.Kind].set != "":
		s.words = []string{t.Netns, t.Device, shownAs(t), t.Name}
	case t.Kind == "qdisc":
		return s, "a script can't tell whether the whole queue discipline is what it was: snag tune apply does, and --as unit makes it at a boot"
	case t.Kind == "nofile":
		return s, "it is of one running process: prlimit --pid " + strconv.Itoa(t.PID) + " --nofile=" + c.Then + ", and LimitNOFILE= of its unit (--as unit)"
	case t.Kind == "unit":
		return s, "it is a line of the unit's own: --as unit writes it as a drop-in"
	default:
		return s, "no ordinary program sets a " + t.Kind
	}
	return s, ""
}

// shownAs is what ethtool(8) writes before a value: the labels of its -g, -l and -k.
func shownAs(t plan.Target) string {
	switch t.Kind {
	case "ring":
		return map[string]string{"rx": "RX", "tx": "TX", "rx-mini": "RX Mini", "rx-jumbo": "RX Jumbo"}[t.Name]
	case "channels":
		return map[string]string{"rx": "RX", "tx": "TX", "other": "Other", "combined": "Combined"}[t.Name]
	case "feature":
		return knob.FeatureLabel(t.Name)
	}
	return t.Name
}

// bareNumber reports whether a text is a number of packets, bytes or entries, and nothing
// that has a unit.
func bareNumber(value string) bool {
	digits := strings.TrimRight(value, "pb")
	return digits != "" && len(value)-len(digits) <= 1 && strings.Trim(digits, "0123456789") == ""
}

// mask is a mask of CPUs as get_mask prints it.
func mask(value string) string {
	m := strings.TrimLeft(strings.ToLower(fields(value)), "0,")
	if m == "" {
		return "0"
	}
	return m
}

// choice is the one in force of the kernel's list.
func choice(value string) string { return fields(knob.Chosen(value)) }

// roundUp: the kernel keeps rps_flow_cnt as the next power of two.
func roundUp(value string) string {
	n, err := strconv.ParseUint(value, 10, 31)
	if err != nil {
		return fields(value)
	}
	return strconv.FormatUint(knob.RoundUp(n), 10)
}
