package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// started are the claims about a start by systemctl enable --now.
func started(l life) []check {
	return []check{
		{"systemctl enable --now starts it", func() (string, error) {
			return line(l.text("status"), "Active:"), errors.Join(l.exit("enable", 0), l.exit("records", 0), l.exit("status", 0))
		}},
		{"the ring has a whole piece", func() (string, error) {
			return fmt.Sprintf("%d packed, %d open", strings.Count(l.text("ring"), "-1s.snag"), strings.Count(l.text("ring"), "-open")), l.exit("first-piece", 0)
		}},
		{"find --last 20s answers from it and accuses nobody", func() (string, error) { return answers(l, "last") }},
		{"systemd has the unit's settings", func() (string, error) { return unitSettings(l) }},
		{"the kernel has them", func() (string, error) { return kernelSettings(l) }},
		{"all capabilities, and no new ones", func() (string, error) { return privileges(l) }},
	}
}

// line is the first line with a word in it.
func line(text, word string) string {
	for _, one := range strings.Split(text, "\n") {
		if strings.Contains(one, word) {
			return strings.TrimSpace(one)
		}
	}
	return ""
}

// answers wants a verdict without a culprit.
func answers(l life, name string) (string, error) {
	d, err := l.document(name)
	if err != nil {
		return "", err
	}
	if c := culprits(d); len(c) > 0 {
		return "", fmt.Errorf("it accuses %s", strings.Join(c, "; "))
	}
	return fmt.Sprintf("%s, %.1f s recorded", d.Standing, d.Window.Seconds), nil
}

// differ compares settings with those that are wanted.
func differ(got map[string]string, want map[string]string) error {
	var errs []error
	for key, value := range want {
		if got[key] != value {
			errs = append(errs, fmt.Errorf("%s is %q, not %q", key, got[key], value))
		}
	}
	return errors.Join(errs...)
}

// unitSettings reads what systemctl show prints.
func unitSettings(l life) (string, error) {
	got := settings(l.text("show"))
	families := strings.Fields(got["RestrictAddressFamilies"])
	slices.Sort(families)
	got["RestrictAddressFamilies"] = strings.Join(families, " ")
	return "CPUWeight 20, MemoryMax 384M, ProtectSystem strict …", differ(got, map[string]string{
		"CPUWeight": "20", "IOWeight": "10", "IOSchedulingClass": "3", "MemoryMax": "402653184", "TasksMax": "256", "ProtectSystem": "strict",
		"ProtectHome": "read-only", "NoNewPrivileges": "yes", "LimitMEMLOCK": "infinity", "LimitNOFILE": "65536",
		"RestrictAddressFamilies": "AF_INET AF_INET6 AF_NETLINK AF_PACKET AF_UNIX",
	})
}

// kernelSettings reads what the control group and the process really have.
func kernelSettings(l life) (string, error) {
	values := map[string]string{}
	for _, one := range strings.Split(l.text("group"), "\n") {
		if file, value, ok := strings.Cut(one, ":"); ok && !strings.Contains(file, "events") {
			values[file[strings.LastIndex(file, "/")+1:]] = value
		}
	}
	err := differ(values, map[string]string{"cpu.weight": "20", "io.weight": "default 10", "memory.max": "402653184"})
	if l.text("idle") != "idle" {
		err = errors.Join(err, fmt.Errorf("the I/O class is %q, not idle", l.text("idle")))
	}
	mounts := l.text("mounts")
	if !strings.Contains(mounts, "/ ro") || !strings.Contains(mounts, "/var/lib/snag rw") {
		err = errors.Join(err, fmt.Errorf("/ should be read-only and /var/lib/snag writable: %q", mounts))
	}
	if !strings.Contains(l.text("mode"), "700 /var/lib/snag\n") {
		err = errors.Join(err, fmt.Errorf("the mode of /var/lib/snag is not 700: %s", l.text("mode")))
	}
	return fmt.Sprintf("cpu.weight 20, io.weight 10, memory.max 384M (peak %s), idle I/O, / read-only", values["memory.peak"]), err
}

// privileges wants those of root, and that nothing can add to them.
func privileges(l life) (string, error) {
	got := settings(l.text("proc"))
	if strings.Trim(got["CapEff"], "0") == "" || got["CapEff"] != got["CapBnd"] {
		return "", fmt.Errorf("capabilities %s of %s", got["CapEff"], got["CapBnd"])
	}
	return fmt.Sprintf("CapEff %s, NoNewPrivs %s, Seccomp %s", got["CapEff"], got["NoNewPrivs"], got["Seccomp"]), differ(got, map[string]string{"NoNewPrivs": "1"})
}
