package export

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"snag/remedies/knob"
	"snag/remedies/plan"
)

// tuned writes a profile: /etc/tuned/snag-NAME/tuned.conf, and beside it a script for
// what tuned's own sections can't hold. tuned puts the old values back when another
// profile is chosen; the script does so when tuned calls it with "stop".
func tuned(n in) Result {
	var r Result
	sections := map[string][]string{}
	var order []string
	put := func(section, head, line string) {
		if _, ok := sections[section]; !ok {
			order = append(order, section)
			if head != "" {
				sections[section] = strings.Split(head, "\n")
			}
		}
		sections[section] = append(sections[section], line)
	}
	var rest []plan.Change
	for _, c := range n.plan.Changes {
		t := c.Target
		file, isFile := fileOf(t)
		why := "# " + oneLine(t.String()+": "+c.Why)
		plain := iniWord.MatchString(t.Device+t.Name) && iniWord.MatchString(fields(c.Then)) && t.Netns == ""
		switch {
		case !plain:
			rest = append(rest, c)
		case t.Kind == "sysctl" && !strings.Contains(t.Name, "/"):
			put("sysctl", "", why+"\n"+t.Name+" = "+fields(c.Then))
		case t.Kind == "thp" && t.Name == "enabled":
			put("vm", "", why+"\ntransparent_hugepages = "+c.Then)
		case isFile && strings.HasPrefix(file, "/sys/"):
			put("sysfs", "", why+"\n"+file+" = "+c.Then)
		case netOption(t.Kind) != "":
			// One section for each interface: options of one that all match would
			// reach every card.
			put("net_"+t.Device, "type = net\ndevices = "+t.Device, why+"\n"+netLine(c))
		default:
			rest = append(rest, c)
		}
	}
	dir := "/etc/tuned/snag-" + n.name
	if len(rest) > 0 {
		only := *n.plan
		only.Changes = rest
		s := shell(in{&only, n.name, n.facts})
		r.Left = s.Left
		if len(s.Left) < len(rest) {
			r.Files = append(r.Files, File{Path: dir + "/script.sh", Text: s.Files[0].Text, Run: true})
			put("script", "", "# What tuned has no section for.\nscript = ${i:PROFILE_DIR}/script.sh")
		}
	}
	if len(order) == 0 {
		return r
	}
	var b strings.Builder
	n.head(&b)
	fmt.Fprintf(&b, "\n[main]\nsummary = Settings that snag found to help (%s)\n", n.name)
	for _, s := range order {
		b.WriteString("\n[" + s + "]\n" + strings.Join(joinOptions(sections[s]), "\n") + "\n")
	}
	leftOut(&b, r.Left)
	r.Files = append([]File{{Path: dir + "/tuned.conf", Text: b.String()}}, r.Files...)
	r.Notes = append(r.Notes, "tuned-adm profile snag-"+n.name+" takes the place of the profile in force; to keep that too, name both: tuned-adm profile $(tuned-adm active | sed 's/.*: //') snag-"+n.name)
	return r
}

// iniWord is text that neither the INI reader nor tuned's variables (${…}) change.
var iniWord = regexp.MustCompile(`^[A-Za-z0-9_./:, @+-]+$`)

// netOption is the option of tuned's net plugin for a kind.
func netOption(kind string) string {
	switch kind {
	case "ring", "channels", "coalesce":
		return kind
	case "feature":
		return "features"
	case "txqueuelen":
		return kind
	}
	return ""
}

func netLine(c plan.Change) string {
	if c.Target.Kind == "txqueuelen" {
		return "txqueuelen = " + c.Then
	}
	name := c.Target.Name
	if c.Target.Kind == "feature" {
		if short, ok := shortFeature[knob.FeatureName(name)]; ok {
			name = short
		}
	}
	return netOption(c.Target.Kind) + " = " + name + " " + c.Then
}

// shortFeature are the names that tuned knows features of ethtool by (plugin_net).
var shortFeature = map[string]string{
	"rx-gro": "gro", "rx-lro": "lro", "rx-ntuple-filter": "ntuple", "rx-hashing": "rxhash", "rx-checksum": "rx",
	"tx-generic-segmentation": "gso", "rx-vlan-hw-parse": "rxvlan", "tx-vlan-hw-insert": "txvlan",
}

// joinOptions makes one line of an option that is there several times: in an INI file
// the last would be the only one.
func joinOptions(entries []string) (out []string) {
	for _, e := range entries {
		why, line, ok := strings.Cut(e, "\n")
		if !ok {
			out = append(out, e)
			continue
		}
		key, value, _ := strings.Cut(line, " = ")
		i := slices.IndexFunc(out, func(o string) bool { return strings.HasPrefix(o[strings.LastIndex(o, "\n")+1:], key+" = ") })
		if i < 0 {
			out = append(out, e)
			continue
		}
		out[i] = why + "\n" + out[i] + " " + value
	}
	return out
}
