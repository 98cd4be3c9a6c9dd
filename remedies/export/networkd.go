package export

import (
	"fmt"
	"slices"
	"strings"

	"snag/remedies/plan"
)

// networkd writes what systemd-udevd and systemd-networkd hold of an interface: a
// .link file (systemd.link(5)) and a drop-in of its .network file (systemd.network(5)).
//
// Only the first .link file that matches an interface is read. Ours therefore has the
// lines of the one that applies now too: without them the interface would have another
// name after the next boot.
func networkd(n in) Result {
	var r Result
	links, networks := map[string][]keyed{}, map[string][]keyed{}
	var order []string
	for _, c := range n.plan.Changes {
		t := c.Target
		if unnamed(t) {
			r.Left = append(r.Left, Left{c, noName})
			continue
		}
		if t.Netns != "" {
			r.Left = append(r.Left, Left{c, "systemd's files are for the host's own network namespace alone: --as unit holds it"})
			continue
		}
		if k, ok := linkKey(c); ok {
			links[t.Device] = append(links[t.Device], k)
			order = append(order, t.Device)
			continue
		}
		device, section, why := n.networkSection(c)
		if why != "" {
			r.Left = append(r.Left, Left{c, why})
			continue
		}
		twice := slices.ContainsFunc(networks[device], func(k keyed) bool { return k.section == section.section && slices.Equal(k.lines, section.lines) })
		if twice { // several options of one queue discipline are one section
			i := slices.IndexFunc(networks[device], func(k keyed) bool { return slices.Equal(k.lines, section.lines) })
			networks[device][i].more = append(networks[device][i].more, c)
			continue
		}
		networks[device] = append(networks[device], section)
		order = append(order, device)
	}
	done := map[string]bool{}
	for _, device := range order {
		if done[device] {
			continue
		}
		done[device] = true
		if all := links[device]; len(all) > 0 {
			r.add(n.linkFile(device, all))
		}
		if all := networks[device]; len(all) > 0 {
			r.add(n.networkFile(device, all))
		}
	}
	if len(r.Files) > 0 {
		var b strings.Builder
		leftOut(&b, r.Left)
		r.Files[0].Text += b.String()
	}
	return r
}

// keyed are lines of a section that hold a change.
type keyed struct {
	change  plan.Change
	more    []plan.Change
	section string
	lines   []string
	since   int // the first systemd that knows all of them
}

// linkFile is /etc/systemd/network/00-snag-NAME-DEVICE.link.
func (n in) linkFile(device string, all []keyed) Result {
	var r Result
	var b strings.Builder
	n.head(&b)
	d, known := n.facts.Devices[device]
	b.WriteString("\n[Match]\n")
	switch {
	case d.PermanentMAC != "":
		b.WriteString("PermanentMACAddress=" + d.PermanentMAC + "\n")
	default:
		b.WriteString("OriginalName=" + unitValue(device) + "\n")
		r.Notes = append(r.Notes, device+" is matched by its name, for it has no permanent address that is known: OriginalName= is the kernel's name, before udev gave it another")
	}
	b.WriteString("\n[Link]\n")
	lines := d.Link
	if len(lines) == 0 {
		if !known {
			r.Notes = append(r.Notes, "the lines of 99-default.link are in the file for "+device+": put those of the .link file that applies to it in their place (udevadm info /sys/class/net/"+device+" shows ID_NET_LINK_FILE), for only one is read")
		}
		lines = []string{"NamePolicy=keep kernel database onboard slot path", "AlternativeNamesPolicy=database onboard slot path", "MACAddressPolicy=persistent"}
	}
	b.WriteString("# Of the file that applies without this one: only the first that matches is read.\n")
	for _, l := range lines {
		b.WriteString(oneLine(l) + "\n")
	}
	since := 0
	for _, k := range all {
		about(&b, k.change)
		b.WriteString(strings.Join(k.lines, "\n") + "\n")
		since = max(since, k.since)
	}
	r.Notes = append(r.Notes, fmt.Sprintf("the .link file needs systemd %d or later", since), "the .link file takes effect when "+device+" appears: at the next boot, or with udevadm trigger --action=add /sys/class/net/"+device)
	r.Files = []File{{Path: "/etc/systemd/network/00-snag-" + n.name + "-" + device + ".link", Text: b.String()}}
	return r
}

// networkFile is a drop-in of the .network file that the interface has.
func (n in) networkFile(device string, all []keyed) Result {
	var r Result
	network := n.facts.Devices[device].Network
	if network == "" {
		network = device + ".network"
		r.Notes = append(r.Notes, "name the folder "+network+".d after the .network file that networkctl status "+device+" shows")
	}
	var b strings.Builder
	n.head(&b)
	since := 0
	for _, k := range all {
		b.WriteString("\n")
		for _, c := range append([]plan.Change{k.change}, k.more...) {
			about(&b, c)
		}
		b.WriteString("[" + k.section + "]\n" + strings.Join(k.lines, "\n") + "\n")
		since = max(since, k.since)
	}
	r.Notes = append(r.Notes, fmt.Sprintf("the .network drop-in needs systemd %d or later", since), "the .network drop-in takes effect with networkctl reload && networkctl reconfigure "+device)
	r.Files = []File{{Path: "/etc/systemd/network/" + network + ".d/50-snag-" + n.name + ".conf", Text: b.String()}}
	return r
}
