package lab

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// reach is what stages made, which is therefore gone, or as it was, once they are closed.
type reach struct {
	at         string // the namespace that commands are run in, "" for the lab's own
	namespaces []string
	pids       []int
	groups     []string // folders of control groups
	settings   []string // files that are put back
}

// The forms that commands of a remedy have (package suspects/remedy, and the suspects' own).
var (
	inNamespace = regexp.MustCompile(`^ip netns exec (\S+) (.+)$`)
	inTheirs    = regexp.MustCompile(`^nsenter -t (\d+) -n (.+)$`)
	ofProcesses = regexp.MustCompile(`^(?:kill -CONT|prlimit --pid|taskset -apc \S+|renice -n \d+ -p \$\(ps -o lwp= -L -p) ([\d,]+)(?: --nofile=\S+|\))?$`)
	intoFile    = regexp.MustCompile(`^echo (?:[\w-]+|'[^']*') > (/\S+|'/[^']*')$`)
	setSysctl   = regexp.MustCompile(`^sysctl -w (.+)$`)
	ofNetwork   = regexp.MustCompile(`^(?:tc|ip|ip -6|nft|ss -K|ethtool|for q in|sh -c|unshare -m sh -c) `)
)

// outside says why one command must not be run: what it changes stays; "" for nothing.
// A form that is not known counts as outside.
func (r reach) outside(command string) string {
	if m := inNamespace.FindStringSubmatch(command); m != nil {
		if !slices.Contains(r.namespaces, m[1]) {
			return "the network namespace " + m[1] + " is not the lab's"
		}
		return network(m[2])
	}
	if m := inTheirs.FindStringSubmatch(command); m != nil {
		if why := r.others(m[1]); why != "" {
			return why
		}
		return network(m[2])
	}
	if m := ofProcesses.FindStringSubmatch(command); m != nil {
		return r.others(m[1])
	}
	if m := intoFile.FindStringSubmatch(command); m != nil {
		file := strings.Trim(m[1], "'")
		if slices.Contains(r.groups, filepath.Dir(file)) || slices.Contains(r.settings, file) {
			return ""
		}
		return file + " is the host's"
	}
	if r.at != "" {
		return network(command)
	}
	if m := setSysctl.FindStringSubmatch(command); m != nil {
		for _, set := range outsideQuotes(m[1], " ") {
			name, _, _ := strings.Cut(strings.Trim(set, "'"), "=")
			if !slices.Contains(r.settings, "/proc/sys/"+strings.ReplaceAll(name, ".", "/")) {
				return name + " is the host's"
			}
		}
		return ""
	}
	return "it changes the host"
}

// others names the first process of a list that is not the lab's.
func (r reach) others(list string) string {
	for _, text := range strings.Split(list, ",") {
		if pid, err := strconv.Atoi(text); err != nil || !slices.Contains(r.pids, pid) {
			return "process " + text + " is not the lab's"
		}
	}
	return ""
}

// network says why a command that runs in a namespace of the lab changes more than that.
func network(command string) string {
	if m := setSysctl.FindStringSubmatch(command); m != nil {
		for _, set := range outsideQuotes(m[1], " ") {
			if set = strings.Trim(set, "'"); !strings.HasPrefix(set, "net.") {
				return set + " is of the whole host"
			}
		}
		return ""
	}
	// The interfaces that /sys shows are those of the namespace.
	own := strings.NewReplacer("/sys/class/net/", "", "mount -t sysfs sysfs /sys &&", "").Replace(command)
	if !ofNetwork.MatchString(command) || strings.Contains(own, "/sys") || strings.Contains(own, "/proc") {
		return "it changes more than the network namespace"
	}
	return ""
}
