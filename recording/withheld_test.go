package recording

import "testing"

// What snag could not see in a container must clear nobody; what the kernel lacks cuts no view.
func TestWithheld(t *testing.T) {
	for cure, want := range map[string]bool{
		"run as root, or give the binary CAP_SYS_PTRACE":         true,
		"its container with the host's PIDs (hostPID: true)":     true,
		"the host's control groups (docker run --cgroupns=host)": true,
		"docker run --security-opt apparmor=unconfined":          true,
		"ulimit -n 1024":                                   true,
		"a kernel with CONFIG_SCHEDSTATS":                  false,
		"docker run --security-opt systempaths=unconfined": false,
		"": false,
	} {
		if got := (Coverage{State: CoveragePartial, Cure: cure}).Withheld(); got != want {
			t.Errorf("%q: %v", cure, got)
		}
		if (Coverage{State: CoverageUnavailable, Cure: cure}).Withheld() {
			t.Errorf("%q: what was not measured at all is not withheld", cure)
		}
	}
}
