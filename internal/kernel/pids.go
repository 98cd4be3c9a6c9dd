package kernel

import "os"

// initialPIDs is the link of the host's own PID namespace (PROC_PID_INIT_INO in
// include/linux/proc_ns.h).
const initialPIDs = "pid:[4026531836]"

// SeesPIDs tells what is lacking where processes have other numbers here than BPF
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
