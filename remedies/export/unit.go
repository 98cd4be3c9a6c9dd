package export

import (
	"fmt"
	"slices"
	"strings"

	"snag/remedies/plan"
)

// units write all of a plan for systemd: sysctls of the host as its drop-in, a unit's
// own properties as a drop-in of that unit, and what neither can hold as services of
// ours. Settings of an interface are made by an instance of a template, which the
// interface's own unit starts, at a boot and whenever it appears.
//
// The services run a short list of the ordinary programs, without a shell; values for
// the kernel's files are written by systemd-tmpfiles from a file of ours that is not
// in tmpfiles.d, where it would be read before the interface is there.
func units(n in) Result {
	r := heldBySysctlD(n)
	jobs := map[string]*job{} // by interface; "" is the host and other namespaces
	var order []string
	for _, c := range n.plan.Changes {
		if c.Target.Kind == "sysctl" && c.Target.Netns == "" {
			continue
		}
		if d, ok := n.dropIn(c); ok {
			if d.why != "" {
				r.Left = append(r.Left, Left{c, d.why})
			} else {
				r.Files = append(r.Files, n.dropInFile(d))
				r.Notes = append(r.Notes, d.note)
			}
			continue
		}
		all, why := n.actions(c)
		if unnamed(c.Target) {
			why = noName
		}
		if why != "" {
			r.Left = append(r.Left, Left{c, why})
			continue
		}
		key := c.Target.Device
		if c.Target.Netns != "" {
			key = ""
		}
		if jobs[key] == nil {
			jobs[key] = &job{device: key}
			order = append(order, key)
		}
		jobs[key].add(c, all)
	}
	var devices []*job
	for _, key := range order {
		if key != "" {
			devices = append(devices, jobs[key])
		}
	}
	r.add(n.template(devices))
	if host := jobs[""]; host != nil {
		r.add(n.hostService(host))
	}
	r.Files = mergeDropIns(r.Files)
	for i := range r.Files {
		if strings.HasSuffix(r.Files[i].Path, ".service") {
			var b strings.Builder
			leftOut(&b, r.Left)
			r.Files[i].Text += b.String()
			break
		}
	}
	slices.Sort(r.Notes)
	r.Notes = slices.Compact(r.Notes)
	return r
}

func (r *Result) add(other Result) {
	r.Files = append(r.Files, other.Files...)
	r.Left = append(r.Left, other.Left...)
	r.Notes = append(r.Notes, other.Notes...)
	r.Start = append(r.Start, other.Start...)
}

// heldBySysctlD is the sysctl.d drop-in of a plan that has sysctls of the host, and
// nothing otherwise; what it does not hold is another file's.
func heldBySysctlD(n in) Result {
	only := *n.plan
	only.Changes = slices.DeleteFunc(slices.Clone(only.Changes), func(c plan.Change) bool {
		return c.Target.Kind != "sysctl" || c.Target.Netns != ""
	})
	if len(only.Changes) == 0 {
		return Result{}
	}
	return sysctlD(in{&only, n.name, n.facts})
}

// job is a list of actions that one service makes.
type job struct {
	device string
	about  []plan.Change
	steps  []step
}

type step struct {
	netns string
	action
}

func (j *job) add(c plan.Change, all []action) {
	j.about = append(j.about, c)
	for _, a := range all {
		twice := slices.ContainsFunc(j.steps, func(s step) bool {
			return a.path == "" && s.netns == c.Target.Netns && slices.Equal(s.args, a.args)
		})
		if !twice { // the same mq above several of its children
			j.steps = append(j.steps, step{c.Target.Netns, a})
		}
	}
}

// lines are the service's commands, and the files that they have systemd-tmpfiles
// read. base is the files' path without its end; %I stands for the interface.
func (n in) lines(j *job) (commands []string, files []File) {
	base := "/etc/snag/tune/" + n.name
	word := unitQuote
	if j.device != "" {
		base += "-" + j.device
		word = func(w string) string {
			if w == j.device {
				return "%I"
			}
			return unitQuote(w)
		}
	}
	for _, s := range j.steps {
		var words []string
		if s.netns != "" {
			words = append(words, ipProgram, "netns", "exec", unitQuote(s.netns))
		}
		if s.path == "" {
			for _, w := range s.args {
				words = append(words, word(w))
			}
			commands = append(commands, strings.Join(words, " "))
			continue
		}
		path, shown := base, "/etc/snag/tune/"+n.name
		if j.device != "" {
			shown += "-%I"
		}
		if s.netns != "" {
			path, shown = path+"-in-"+s.netns, shown+"-in-"+s.netns
		}
		line := fmt.Sprintf("w %s - - - - %s\n", tmpfilesQuote(s.path), tmpfilesQuote(s.value))
		i := slices.IndexFunc(files, func(f File) bool { return f.Path == path+".conf" })
		if i >= 0 {
			files[i].Text += line
			continue
		}
		var b strings.Builder
		n.head(&b)
		b.WriteString("# Lines of tmpfiles.d(5), read by the service that makes these settings.\n" + line)
		files = append(files, File{Path: path + ".conf", Text: b.String(), Of: j.about})
		file := unitQuote(shown + ".conf")
		if j.device != "" {
			file = shown + ".conf" // with its %I
		}
		commands = append(commands, strings.Join(append(words, tmpfilesProgram, "--create", file), " "))
	}
	return commands, files
}

// template is snag-NAME@.service. Where interfaces have other commands than each
// other, each has its own in a drop-in of its instance.
func (n in) template(jobs []*job) Result {
	var r Result
	if len(jobs) == 0 {
		return r
	}
	lists := make([][]string, len(jobs))
	same := true
	for i, j := range jobs {
		var files []File
		lists[i], files = n.lines(j)
		r.Files = append(r.Files, files...)
		same = same && slices.Equal(lists[i], lists[0])
	}
	unit := "snag-" + n.name + "@"
	var b strings.Builder
	n.head(&b)
	for _, j := range jobs {
		for _, c := range j.about {
			about(&b, c)
		}
	}
	fmt.Fprintf(&b, "\n[Unit]\nDescription=Settings of %%I that snag found to help (%s)\n", n.name)
	b.WriteString("BindsTo=sys-subsystem-net-devices-%i.device\nAfter=sys-subsystem-net-devices-%i.device\n")
	b.WriteString("\n[Service]\nType=oneshot\nRemainAfterExit=yes\n")
	if same {
		writeExec(&b, lists[0])
	} else {
		b.WriteString("# What is run stands in the drop-in of each instance.\n")
	}
	b.WriteString("\n[Install]\nWantedBy=sys-subsystem-net-devices-%i.device\n")
	var of []plan.Change
	for _, j := range jobs {
		of = append(of, j.about...)
	}
	r.Files = append(r.Files, File{Path: "/etc/systemd/system/" + unit + ".service", Text: b.String(), Of: of})
	for i, j := range jobs {
		instance := unit + escapeUnit(j.device) + ".service"
		r.Start = append(r.Start, instance)
		if !same {
			var b strings.Builder
			n.head(&b)
			b.WriteString("[Service]\n")
			writeExec(&b, lists[i])
			r.Files = append(r.Files, File{Path: "/etc/systemd/system/" + instance + ".d/50-snag-" + n.name + ".conf", Text: b.String(), Of: jobs[i].about})
		}
	}
	return r
}

func writeExec(b *strings.Builder, commands []string) {
	for _, c := range commands {
		b.WriteString("ExecStart=" + c + "\n")
	}
}

// hostService is snag-NAME.service: what belongs to no interface of the host's.
func (n in) hostService(j *job) Result {
	var r Result
	commands, files := n.lines(j)
	var b strings.Builder
	n.head(&b)
	for _, c := range j.about {
		about(&b, c)
		if c.Target.Kind == "irq" {
			r.Notes = append(r.Notes, fmt.Sprintf("interrupt %d may have another number after a boot or with another driver: look at /proc/interrupts, and prefer the queues' RPS and XPS masks", c.Target.IRQ))
		}
	}
	fmt.Fprintf(&b, "\n[Unit]\nDescription=Settings that snag found to help (%s)\n", n.name)
	b.WriteString("After=network-online.target\nWants=network-online.target\n")
	for _, s := range j.steps {
		if s.netns == "" {
			continue
		}
		line := "ConditionPathExists=/run/netns/" + strings.ReplaceAll(s.netns, "%", "%%") + "\n"
		if !strings.Contains(b.String(), line) {
			b.WriteString(line)
			r.Notes = append(r.Notes, "network namespace "+s.netns+" is there only once somebody made it: have that unit start snag-"+n.name+".service afterwards (Wants= in it, After= in ours)")
		}
	}
	b.WriteString("\n[Service]\nType=oneshot\nRemainAfterExit=yes\n")
	writeExec(&b, commands)
	b.WriteString("\n[Install]\nWantedBy=multi-user.target\n")
	unit := "snag-" + n.name + ".service"
	r.Files = append(files, File{Path: "/etc/systemd/system/" + unit, Text: b.String(), Of: j.about})
	r.Start = []string{unit}
	return r
}

// escapeUnit writes a name as part of a unit's (systemd.unit(5), "String Escaping for
// Inclusion in Unit Names").
func escapeUnit(name string) string {
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case c == '/':
			b.WriteByte('-')
		case strings.IndexByte(unitBytes, c) >= 0 && (c != '.' || i > 0):
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, `\x%02x`, c)
		}
	}
	return b.String()
}

const unitBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:_."
