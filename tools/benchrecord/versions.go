package main

import (
	"os/exec"
	"strings"
)

// versions of the programs, by what Debian's package or the program itself says.
func versions(o *options) map[string]string {
	v := map[string]string{"below": "0.9.0 (crates.io)"}
	for tool, argv := range map[string][]string{
		"snag": {o.snag, "--version"}, "atop": {debian(o, "usr/bin/atop"), "-V"}, "sysstat": {debian(o, "usr/bin/sadf"), "-V"}, "netdata": {debian(o, "usr/sbin/netdata"), "-V"},
		"node_exporter": {debian(o, "usr/bin/prometheus-node-exporter"), "--version"}, "prometheus": {"prometheus", "--version"}, "perf": {"perf", "--version"},
	} {
		out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
		if err != nil && len(out) == 0 {
			continue
		}
		line, _, _ := strings.Cut(string(out), "\n")
		v[tool] = strings.TrimSpace(line)
	}
	return v
}
