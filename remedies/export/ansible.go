package export

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"snag/remedies/plan"
)

// ansible writes a list of tasks, for a role's tasks/ or import_tasks: sysctls by
// ansible.posix.sysctl, all else by the files that the unit format has. Each task's
// name says why.
func ansible(n in) Result {
	held := units(n)
	r := Result{Left: held.Left, Notes: held.Notes}
	var tasks []task
	file := "/etc/sysctl.d/90-snag-" + n.name + ".conf"
	for _, c := range n.changes("sysctl") {
		if c.Target.Netns != "" {
			continue
		}
		tasks = append(tasks, task{Name: asIs("Set " + c.Target.Name + ": " + oneLine(c.Why)), Sysctl: &sysctlTask{
			Name: asIs(c.Target.Name), Value: asIs(fields(c.Then)), File: file, State: "present", Reload: true,
		}})
	}
	folders := map[string]bool{}
	changed := false
	for _, f := range held.Files {
		if f.Path == file {
			continue // the module writes it
		}
		dir := f.Path[:strings.LastIndexByte(f.Path, '/')]
		if !folders[dir] && strings.Count(dir, "/") > 2 && dir != "/etc/systemd/system" {
			folders[dir] = true
			tasks = append(tasks, task{Name: asIs("Make the folder " + dir), File: &fileTask{Path: asIs(dir), State: "directory", Mode: "0755"}})
		}
		tasks = append(tasks, task{Name: asIs("Write " + f.Path + reasons(f.Of)), Copy: &copyTask{Dest: asIs(f.Path), Content: asIs(f.Text), Owner: "root", Group: "root", Mode: "0644"}})
		changed = changed || strings.HasPrefix(f.Path, "/etc/systemd/")
	}
	if changed {
		yes := true
		tasks = append(tasks, task{Name: "Have systemd read its files again", Systemd: &systemdTask{Reload: &yes}})
		for _, unit := range held.Start {
			tasks = append(tasks, task{Name: asIs("Make the settings now and at each boot: " + unit), Systemd: &systemdTask{Unit: asIs(unit), Enabled: &yes, State: "restarted"}})
		}
	}
	if len(tasks) == 0 {
		return r
	}
	var b strings.Builder
	n.head(&b)
	b.WriteString("# A list of tasks; they need become: true, and the collection ansible.posix.\n")
	leftOut(&b, r.Left)
	b.WriteString("---\n")
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(tasks); err != nil { // of strings and booleans: it can't fail
		r.Notes = append(r.Notes, fmt.Sprintf("the tasks could not be written: %v", err))
		return r
	}
	r.Files = []File{{Path: "snag-" + n.name + ".yml", Text: b.String() + out.String()}}
	return r
}

// reasons are what a file's changes are for, each once.
func reasons(all []plan.Change) string {
	var out []string
	for _, c := range all {
		if why := oneLine(c.Why); why != "" && !slices.Contains(out, why) {
			out = append(out, why)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return ": " + strings.Join(out, "; ")
}

// asIs is text that Ansible takes as it stands: a plan's words must not be run as a
// template (the tag !unsafe; docs.ansible.com, "Unsafe or raw strings").
type asIs string

// MarshalYAML implements yaml.Marshaler.
func (s asIs) MarshalYAML() (any, error) {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!unsafe", Value: string(s)}
	if strings.Contains(n.Value, "\n") {
		n.Style = yaml.LiteralStyle
	}
	return n, nil
}

// task is one of Ansible's.
type task struct {
	Name    asIs         `yaml:"name"`
	Sysctl  *sysctlTask  `yaml:"ansible.posix.sysctl,omitempty"`
	File    *fileTask    `yaml:"ansible.builtin.file,omitempty"`
	Copy    *copyTask    `yaml:"ansible.builtin.copy,omitempty"`
	Systemd *systemdTask `yaml:"ansible.builtin.systemd,omitempty"`
}

type sysctlTask struct {
	Name   asIs   `yaml:"name"`
	Value  asIs   `yaml:"value"`
	File   string `yaml:"sysctl_file"`
	State  string `yaml:"state"`
	Reload bool   `yaml:"reload"`
}

type fileTask struct {
	Path  asIs   `yaml:"path"`
	State string `yaml:"state"`
	Mode  string `yaml:"mode"`
}

type copyTask struct {
	Dest    asIs   `yaml:"dest"`
	Content asIs   `yaml:"content"`
	Owner   string `yaml:"owner"`
	Group   string `yaml:"group"`
	Mode    string `yaml:"mode"`
}

type systemdTask struct {
	Unit    asIs   `yaml:"name,omitempty"`
	Enabled *bool  `yaml:"enabled,omitempty"`
	State   string `yaml:"state,omitempty"`
	Reload  *bool  `yaml:"daemon_reload,omitempty"`
}
