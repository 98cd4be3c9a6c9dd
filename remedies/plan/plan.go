// Package plan is what is to be changed on a host, why, and how it is told that it
// helped: a file that people read, review and keep, and that apply carries out.
//
// The file is YAML (JSON is YAML). A key that it does not know is an error, and so is
// a value that the kernel would not take: nothing of a plan is carried out before
// all of it was found to be valid.
package plan

// Version is the version of the file's form.
const Version = 1

// Plan is the fewest changes that remedy what a verdict names.
type Plan struct {
	Version int    `yaml:"version"`
	Snag    string `yaml:"snag,omitempty"` // the version that made it
	Made    Time   `yaml:"made,omitempty"`
	Host    string `yaml:"host,omitempty"`
	// Kernel is the release that values were computed for.
	Kernel string `yaml:"kernel,omitempty"`
	// For is the culprit, or the role of an audit.
	For     Cause    `yaml:"for"`
	Changes []Change `yaml:"changes,omitempty"`
	// Advice is what only a person or the application can change.
	Advice []Advice `yaml:"advice,omitempty"`
	// Conflicts are settings of this host that work against the changes.
	Conflicts []string `yaml:"conflicts,omitempty"`
	// Covered are settings that an audit looked at and that are as the role needs them.
	Covered []string `yaml:"covered,omitempty"`
	Verify  Check    `yaml:"verify,omitempty"`
}

// Cause is what the plan is made for.
type Cause struct {
	Suspect   string `yaml:"suspect,omitempty"`
	Subject   string `yaml:"subject,omitempty"`
	Text      string `yaml:"text,omitempty"`
	Role      string `yaml:"role,omitempty"`      // of an audit
	Recording string `yaml:"recording,omitempty"` // the folder
}

// Change is one setting, from now to then.
type Change struct {
	ID     string `yaml:"id"`
	Target Target `yaml:"target"`
	// Now is the value that was there when the plan was made, as the kernel writes
	// it; apply refuses where it is another by then.
	Now  string `yaml:"now"`
	Then string `yaml:"then"`
	Why  string `yaml:"why"`
	Risk string `yaml:"risk,omitempty"`
	// Needs is what else it takes: a kernel, a driver, a restart of whom.
	Needs string `yaml:"needs,omitempty"`
	// For is the culprit that this one is for, where the plan has several.
	For string `yaml:"for,omitempty"`
	// Check is how it is told that this change did what it is for, besides the plan's
	// own check: what stands still, and where it is counted.
	Check string `yaml:"check,omitempty"`
	// Source is where the reason stands: a file of the kernel, an RFC.
	Source string `yaml:"source,omitempty"`
	// Persists is the kind of file that holds it across a reboot: "sysctl.d", a .link
	// or .network file, a unit.
	Persists string `yaml:"persists,omitempty"`
	// With names the changes that only hold together with this one: they are made
	// next to each other, and undone so.
	With []string `yaml:"with,omitempty,flow"`
}

// Target is the one thing that a change sets. Which fields it has depends on its
// kind; knob.Kinds has them.
type Target struct {
	Kind   string `yaml:"kind"`             // sysctl, ring, qdisc, rps …
	Name   string `yaml:"name,omitempty"`   // of the sysctl, feature or property
	Netns  string `yaml:"netns,omitempty"`  // a name under /run/netns, or pid:812 with Started for that of a process; "": the host's
	Device string `yaml:"device,omitempty"` // the interface
	Queue  *int   `yaml:"queue,omitempty"`  // of the interface, or of its mq qdisc's children
	Parent string `yaml:"parent,omitempty"` // of a qdisc: root, or a class as 8001:1
	IRQ    int    `yaml:"irq,omitempty"`
	Route  string `yaml:"route,omitempty"` // the destination, as 10.0.0.0/8 or default
	Unit   string `yaml:"unit,omitempty"`  // of systemd
	Path   string `yaml:"path,omitempty"`  // of a control group, below the hierarchy's root
	PID    int    `yaml:"pid,omitempty"`
	// Started is when the process of PID, or the one that Netns names, began, clock ticks since the boot
	// (/proc/PID/stat, field 22): another that got its number is not it.
	Started uint64 `yaml:"started,omitempty"`
}

// Advice is what snag does not change: the program's own calls, a kernel's build.
type Advice struct {
	Who string `yaml:"who"` // the process, or the person
	// Do is the exact call or option: setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, 1).
	Do  string `yaml:"do"`
	Why string `yaml:"why"`
}

// Check is how it is told that the symptom is gone.
type Check struct {
	Symptom string  `yaml:"symptom,omitempty"`
	Subject string  `yaml:"subject,omitempty"`
	Before  float64 `yaml:"before,omitempty"` // the symptom's amount
	Unit    string  `yaml:"unit,omitempty"`
	For     string  `yaml:"for,omitempty"` // how long to measure, as 30s
}
