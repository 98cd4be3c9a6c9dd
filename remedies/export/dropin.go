package export

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"snag/remedies/plan"
)

// dropIn is a line of a unit's own settings.
type dropIn struct {
	unit, section string
	lines         []string
	change        plan.Change
	note          string
	why           string // it can't be one
}

// dropIn gives what a change is as a unit's own setting; ok is false for kinds that
// are none.
func (n in) dropIn(c plan.Change) (d dropIn, ok bool) {
	d.change = c
	switch t := c.Target; t.Kind {
	case "unit":
		d.unit, d.lines = t.Unit, propertyLines(t.Name, c.Then)
	case "cpu-quota":
		d.unit = path.Base(t.Path)
		if !isUnit(d.unit) {
			d.why = "the control group " + t.Path + " is not a service's or slice's of systemd: who makes it must set its quota"
			return d, true
		}
		lines, err := quotaLines(c.Then)
		if err != nil {
			d.why = err.Error()
			return d, true
		}
		d.lines = lines
	case "nofile":
		d.unit = n.facts.Units[t.PID]
		if !isUnit(d.unit) {
			d.why = fmt.Sprintf("process %d is of no service that is known here: put LimitNOFILE=%s (or ulimit -n) where it is started", t.PID, c.Then)
			return d, true
		}
		d.lines = []string{"LimitNOFILE=" + c.Then}
	default:
		return d, false
	}
	kind, ok := unitSections[path.Ext(d.unit)]
	if !ok {
		d.why = d.unit + " is not a unit that a file sets: who makes it must say it then (systemd-run -p)"
		return d, true
	}
	d.section = kind
	d.note = "after systemctl daemon-reload, " + d.unit + " must be restarted to have it"
	if c.Target.Kind == "cpu-quota" {
		d.note = "systemctl daemon-reload gives " + d.unit + " its quota"
	}
	return d, true
}

// unitSections are the sections of types of units; a scope has no file.
var unitSections = map[string]string{".service": "Service", ".slice": "Slice", ".socket": "Socket", ".mount": "Mount", ".swap": "Swap"}

// propertyLines write a property. Nothing behind = puts systemd's default back; lists
// are joined with those of other files, unless they are emptied first
// (systemd.exec(5), CPUAffinity=).
func propertyLines(name, value string) []string {
	switch {
	case value == "unset", name == "CPUQuota" && value == "infinity":
		return []string{name + "="}
	case name == "CPUAffinity", name == "NUMAMask":
		return []string{name + "=", name + "=" + value}
	}
	// A % is no specifier in CPUQuota=, and no other value has one.
	return []string{name + "=" + value}
}

// unitValue is a value in a unit file: % begins a specifier there.
func unitValue(v string) string { return strings.ReplaceAll(v, "%", "%%") }

// isUnit reports whether a name is a unit's that a file can set.
func isUnit(name string) bool {
	return strings.HasSuffix(name, ".service") && name != ".service" || strings.HasSuffix(name, ".slice") && name != ".slice"
}

// quotaLines write cpu.max as systemd has it: a share of one CPU and the period
// (systemd.resource-control(5): CPUQuota= since 213, CPUQuotaPeriodSec= since 242).
func quotaLines(value string) ([]string, error) {
	f := strings.Fields(value)
	if len(f) != 2 {
		return nil, fmt.Errorf("%q is not a quota", value)
	}
	if f[0] == "max" {
		return []string{"CPUQuota="}, nil
	}
	quota, err1 := strconv.ParseUint(f[0], 10, 64)
	period, err2 := strconv.ParseUint(f[1], 10, 64)
	if err1 != nil || err2 != nil || period == 0 {
		return nil, fmt.Errorf("%q is not a quota", value)
	}
	lines := []string{"CPUQuota=" + percent(quota, period)}
	if period != 100_000 { // systemd's own
		lines = append(lines, fmt.Sprintf("CPUQuotaPeriodSec=%dus", period))
	}
	return lines, nil
}

// percent has at most two digits after the point, as systemd takes it, rounded up: a
// quota must not come out smaller.
func percent(part, whole uint64) string {
	hundredths := (part*10_000 + whole - 1) / whole
	s := fmt.Sprintf("%d.%02d", hundredths/100, hundredths%100)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".") + "%"
}

// dropInFile is /etc/systemd/system/UNIT.d/50-snag-NAME.conf.
func (n in) dropInFile(d dropIn) File {
	var b strings.Builder
	n.head(&b)
	about(&b, d.change)
	b.WriteString("[" + d.section + "]\n" + strings.Join(d.lines, "\n") + "\n")
	return File{Path: "/etc/systemd/system/" + d.unit + ".d/50-snag-" + n.name + ".conf", Text: b.String(), Of: []plan.Change{d.change}}
}

// mergeDropIns joins files of one path: several settings of one unit.
func mergeDropIns(all []File) (out []File) {
	for _, f := range all {
		i := slices.IndexFunc(out, func(o File) bool { return o.Path == f.Path })
		if i < 0 {
			out = append(out, f)
			continue
		}
		_, rest, _ := strings.Cut(f.Text, "\n")
		out[i].Text += rest
		out[i].Of = append(out[i].Of, f.Of...)
	}
	return out
}
