package export

import (
	"fmt"
	"strings"

	"snag/remedies/knob"
	"snag/remedies/plan"
)

// sysctlD writes /etc/sysctl.d/90-snag-NAME.conf (sysctl.d(5)): read at each boot, and
// by sysctl --system. Files whose names come later win.
func sysctlD(n in) Result {
	var r Result
	var b strings.Builder
	n.head(&b)
	modules := map[string]bool{}
	held := false
	for _, c := range n.plan.Changes {
		why := ""
		switch {
		case c.Target.Kind != "sysctl":
			why = "it is not a sysctl: --as unit holds it"
		case unnamed(c.Target):
			why = noName
		case c.Target.Netns != "":
			why = "such a file is for the host's own network namespace alone: --as unit holds it"
		}
		if why != "" {
			r.Left = append(r.Left, Left{c, why})
			continue
		}
		held = true
		b.WriteString("\n")
		about(&b, c)
		fmt.Fprintf(&b, "%s = %s\n", c.Target.Name, fields(c.Then))
		if m := moduleOf(c.Target); m != "" {
			modules[m] = true
		}
	}
	if !held {
		return r
	}
	leftOut(&b, r.Left)
	r.Files = append(r.Files, File{Path: "/etc/sysctl.d/90-snag-" + n.name + ".conf", Text: b.String()})
	for m := range modules {
		var b strings.Builder
		n.head(&b)
		comment(&b, "Its settings are there only once it is loaded: before systemd-sysctl reads them.")
		b.WriteString(m + "\n")
		r.Files = append(r.Files, File{Path: "/etc/modules-load.d/snag-" + n.name + ".conf", Text: b.String()})
	}
	r.Notes = append(r.Notes, "it is read at the next boot; now: sysctl --system")
	return r
}

// sourceOf is where a change's reason stands, or else its sysctl's meaning.
func sourceOf(c plan.Change) string {
	if c.Source != "" || c.Target.Kind != "sysctl" {
		return c.Source
	}
	for _, s := range knob.Sysctls {
		if s.Name == c.Target.Name {
			return s.Source
		}
	}
	return ""
}

// moduleOf is the module without which a sysctl is not there.
func moduleOf(t plan.Target) string {
	if strings.HasPrefix(t.Name, "net.netfilter.nf_conntrack") {
		return "nf_conntrack"
	}
	return ""
}
