package kernel

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// initialPIDs is the link of the host's own PID namespace (PROC_PID_INIT_INO in
// include/linux/proc_ns.h).
const initialPIDs = "pid:[4026531836]"

// SeesPIDs reports what is lacking where processes have other numbers here than BPF
// programs see, which are the host's (bpf_get_current_pid_tgid); nil where nothing is.
func SeesPIDs(proc string) *Lack {
	ns, err := os.Readlink(proc + "/self/ns/pid")
	if err != nil || ns == initialPIDs {
		return nil
	}
	return &Lack{
		Why:  "snag runs in a PID namespace of its own (" + ns + "): what BPF programs count has the host's process numbers, which are not those of /proc here",
		Cure: "run snag on the host, or its container with the host's PIDs (docker run --pid=host, hostPID: true)",
	}
}

// SeesProcesses reports what is lacking where procfs is mounted so that it hides the
// processes of other users (hidepid, proc(5)), and this one may not see them; nil where
// nothing is.
func SeesProcesses(proc string) *Lack {
	hides, group := hidden(proc)
	if hides == "" {
		return nil
	}
	if caps, err := Capabilities(proc); err != nil || caps.Has(unix.CAP_SYS_PTRACE) {
		return nil
	}
	if groups, err := os.Getgroups(); err == nil && group > 0 && (slices.Contains(groups, group) || os.Getegid() == group) {
		return nil
	}
	cure := "run as root, or give the binary CAP_SYS_PTRACE"
	if group > 0 {
		cure += ", or run as a user in the group " + strconv.Itoa(group)
	}
	return &Lack{Why: proc + " is mounted with hidepid=" + hides + ", which hides them", Cure: cure}
}

// hidden reads how the procfs that is mounted at proc hides processes, "" where it does
// not, and the group that is exempt (fs/proc/root.c, proc_show_options).
func hidden(proc string) (hides string, group int) {
	b, err := os.ReadFile(proc + "/self/mountinfo")
	if err != nil {
		return "", 0
	}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		i := slices.Index(f, "-")
		if len(f) < 5 || f[4] != "/proc" || i < 0 || len(f) < i+4 || f[i+1] != "proc" {
			continue
		}
		hides, group = "", 0 // the last that was mounted there is the one on top
		for _, option := range strings.Split(f[i+3], ",") {
			name, value, _ := strings.Cut(option, "=")
			switch {
			case name == "hidepid" && value != "0" && value != "off":
				hides = value
			case name == "gid":
				group, _ = strconv.Atoi(value)
			}
		}
	}
	return hides, group
}
