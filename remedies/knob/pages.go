package knob

import (
	"fmt"
	"strings"

	"snag/internal/sorting"
)

// Page is what the documents say of one kind of setting, or of one group of sysctls.
type Page struct {
	Name  string // of the page: qdisc, sysctl-tcp
	About string
	// Target is how a plan names one, and Then a value.
	Target, Then string
	// Needs is what it takes.
	Needs string
	// Notes are what holds for all of them.
	Notes    []string
	Settings []Doc
}

// Pages are all, by name.
func Pages() []Page {
	all := append(kindPages(), sysctlPages()...)
	sorting.By(all, func(a, b Page) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// PageOf finds a page by its name, or by that of a setting that it has.
func PageOf(name string) (Page, bool) {
	for _, p := range Pages() {
		if p.Name == name {
			return p, true
		}
	}
	if s, err := sysctlOf(name); err == nil {
		name = s.Name
	}
	for _, p := range Pages() {
		for _, d := range p.Settings {
			if d.Name == name {
				p.Settings = []Doc{d}
				return p, true
			}
		}
	}
	return Page{}, false
}

// sysctlGroup is the page of a sysctl.
func sysctlGroup(name string) (page, about string) {
	switch {
	case strings.HasPrefix(name, "net.core."):
		return "sysctl-net-core", "what all sockets and interfaces share"
	case strings.HasPrefix(name, "net.netfilter."):
		return "sysctl-conntrack", "the table of tracked connections"
	case strings.HasPrefix(name, "net.ipv4.tcp_"), strings.HasPrefix(name, "net.ipv4.udp_"), name == "net.ipv4.ip_local_port_range":
		return "sysctl-tcp-udp", "TCP, UDP and their ports"
	case strings.HasPrefix(name, "net."):
		return "sysctl-ip", "addresses, neighbours and routes"
	case strings.HasPrefix(name, "kernel."):
		return "sysctl-kernel", "the scheduler and the number of tasks"
	}
	return "sysctl-vm-fs", "memory, writing to disks, files"
}

func sysctlPages() []Page {
	byName := map[string]*Page{}
	var order []string
	for _, s := range Sysctls {
		name, about := sysctlGroup(s.Name)
		p := byName[name]
		if p == nil {
			p = &Page{Name: name, About: "sysctls: " + about, Needs: "root",
				Notes: []string{"A file of /etc/sysctl.d, or a program such as tuned, may set another value later."}}
			byName[name] = p
			order = append(order, name)
		}
		if p.Target == "" && !strings.Contains(s.Name, "*") && s.Fields == 0 && len(s.Words) == 0 {
			p.Target, p.Then = "{kind: sysctl, name: "+s.Name+"}", fmt.Sprint(max(s.Min, 1)*2)
		}
		p.Settings = append(p.Settings, s.doc())
	}
	var all []Page
	for _, name := range order {
		all = append(all, *byName[name])
	}
	return all
}

// doc is a sysctl as the documents have it.
func (s *Sysctl) doc() Doc {
	d := Doc{Name: s.Name, About: s.About, Unit: s.Unit, Since: s.Since, Helps: s.Helps, Hurts: s.Hurts, Source: s.Source}
	switch {
	case len(s.Words) > 0:
		d.Unit, d.Range = "word", strings.Join(s.Words, ", ")
	case s.Fields > 1:
		d.Range = fmt.Sprintf("%d numbers, each %d to %d", s.Fields, s.Min, s.Max)
		if s.Rising {
			d.Range += ", none below the one before"
		}
	default:
		d.Range = fmt.Sprintf("%d to %d", s.Min, s.Max)
	}
	switch {
	case s.Rounds < 0:
		d.Range += "; the kernel rounds up to a power of two"
	case s.Rounds > 0:
		d.Range += fmt.Sprintf("; the kernel rounds up to a multiple of %d", s.Rounds)
	}
	if s.Netns {
		d.Range += "; each network namespace has its own"
	}
	if s.Other != "" {
		d.Range += fmt.Sprintf("; \"%s=N\" while that is in force in its place", s.Other)
	}
	if strings.Contains(s.Name, "*") {
		d.Range += "; * is an interface, all or default"
	}
	return d
}

// Markdown is the page's text.
func (p Page) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s%s.\n\n", p.Name, strings.ToUpper(p.About[:1]), p.About[1:])
	fmt.Fprintf(&b, "In a plan: `target: %s`, `then: %q`. It needs %s.\n", p.Target, p.Then, p.Needs)
	for _, n := range p.Notes {
		fmt.Fprintf(&b, "\n- %s", n)
	}
	if len(p.Notes) > 0 {
		b.WriteString("\n")
	}
	for _, d := range p.Settings {
		fmt.Fprintf(&b, "\n## %s\n\n%s%s.\n\n", d.Name, strings.ToUpper(d.About[:1]), d.About[1:])
		for _, row := range [][2]string{{"Unit", d.Unit}, {"Range", d.Range}, {"Since", d.Since}, {"Helps", d.Helps}, {"Hurts", d.Hurts}, {"Source", d.Source}} {
			fmt.Fprintf(&b, "- %s: %s\n", row[0], strings.ReplaceAll(row[1], "*", `\*`))
		}
	}
	return b.String()
}
