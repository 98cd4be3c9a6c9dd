// Package export writes a plan as the files that other tools keep settings in: a
// sysctl.d drop-in, systemd's files, an Ansible task list, a shell script, a tuned
// profile. It reads and writes nothing: a plan and what is known of the host go in,
// the files' text comes out.
//
// A format that can't hold a change says so, in the file and in what is returned:
// nothing is dropped in silence. Text of a plan (why, risk) may hold anything, so it
// reaches a file only as one line of comment, and every word only quoted as the format
// has it.
package export

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"snag/remedies/plan"
)

// Mark begins the first line of every file: by it, and by the name, a file is known
// to be snag's.
const Mark = "# Made by snag"

// File is one file of an export.
type File struct {
	Path string // where it belongs, as /etc/sysctl.d/90-snag-x.conf
	Text string
	// Run reports that people run it: it gets the mode 0755 in place of 0644.
	Run bool
	// Of are the changes that it holds.
	Of []plan.Change
}

// Left is a change that a format can't hold.
type Left struct {
	Change plan.Change
	Why    string // and what could hold it
}

// Result is a plan in one format.
type Result struct {
	Files []File
	Left  []Left
	// Notes are what one must know to use the files.
	Notes []string
	// Start are the units that must be enabled for the files to take effect.
	Start []string
}

// Facts are what is known of the host besides the plan; the zero value where the
// export is made elsewhere.
type Facts struct {
	Devices map[string]Device // by the interface's name
	Routes  map[string]Route  // by the target's text (plan.Target.String)
	// Qdiscs are whole queue disciplines as a plan writes them ("fq limit 10000 …"),
	// by their place (Place): "eth0 root".
	Qdiscs map[string]string
	Units  map[int]string // the unit of a process
}

// Device is an interface of the host.
type Device struct {
	PermanentMAC string // "" where it has none (virtual ones)
	// Link are the lines of the [Link] section that apply to it now: a .link file of
	// ours takes that file's place.
	Link []string
	// Network is the name of the .network file that systemd-networkd has for it; ""
	// where networkd does not manage it.
	Network string
}

// Route is what a route has besides its destination and the metric to be set.
type Route struct {
	Gateway, Device, Source string
	Metric                  int // its preference
	Protocol                string
	Scope                   string
	Metrics                 map[string]string // advmss, mtu …: those that are set
}

// formats are all, in the order of the help.
var formats = []struct {
	name string
	make func(in) Result
}{
	{"sysctl.d", sysctlD},
	{"networkd", networkd},
	{"unit", units},
	{"ansible", ansible},
	{"sh", shell},
	{"tuned", tuned},
}

// Formats are the names that As knows.
func Formats() []string {
	var all []string
	for _, f := range formats {
		all = append(all, f.name)
	}
	return all
}

// in is what a format is made from.
type in struct {
	plan  *plan.Plan
	name  string
	facts Facts
}

// changes are the plan's, of the kinds wanted.
func (n in) changes(kinds ...string) (all []plan.Change) {
	for _, c := range n.plan.Changes {
		if len(kinds) == 0 || slices.Contains(kinds, c.Target.Kind) {
			all = append(all, c)
		}
	}
	return all
}

// As writes a plan in a format. kinds (knob.ForPlan) show whether it is valid: one
// that is not becomes no file. name is used for the files; "" takes the plan's cause.
func As(format string, p *plan.Plan, name string, kinds map[string]plan.Kind, f Facts) (Result, error) {
	if err := p.Valid(kinds); err != nil {
		return Result{}, fmt.Errorf("the plan is not valid: %w", err)
	}
	if len(p.Changes) == 0 {
		return Result{}, fmt.Errorf("the plan has no change that snag could make: there is nothing to write as %s", format)
	}
	if name == "" {
		name = Name(p)
	}
	if !goodName.MatchString(name) {
		return Result{}, fmt.Errorf("%q is not a name for files: small letters, digits and single dashes, at most 40", name)
	}
	ordered := *p
	ordered.Changes = plan.Ordered(p.Changes)
	for _, one := range formats {
		if one.name == format {
			return one.make(in{&ordered, name, f}), nil
		}
	}
	return Result{}, fmt.Errorf("snag writes no plan as %q: it knows %s", format, strings.Join(Formats(), ", "))
}

// goodName is safe as part of a file's name, of a unit's and of an INI section's.
var goodName = regexp.MustCompile(`^[a-z0-9](-?[a-z0-9]){0,39}$`)

// Name is what a plan's files are called: after its cause or role.
func Name(p *plan.Plan) string {
	for _, text := range []string{p.For.Suspect, p.For.Role} {
		if goodName.MatchString(text) {
			return text
		}
	}
	return "plan"
}
