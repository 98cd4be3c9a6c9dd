package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// recorderNeeds are the capabilities that the recorder's probes use, and for what.
var recorderNeeds = map[string]string{
	"CAP_BPF": "load BPF programs (5.8)", "CAP_PERFMON": "attach them and open perf events (5.8)", "CAP_SYS_ADMIN": "enter network namespaces, and BPF before 5.8",
	"CAP_NET_ADMIN": "socket dumps, nftables' rules", "CAP_SYS_PTRACE": "descriptors and maps of other users' processes", "CAP_DAC_READ_SEARCH": "files of /proc of other users",
	"CAP_SYSLOG": "the kernel log and addresses of kernel symbols", "CAP_SYS_RESOURCE": "locked memory of BPF maps before 5.11", "CAP_NET_RAW": "packet sockets", "CAP_SYS_NICE": "its own priority",
}

// unitSettings reads the service section of a unit; a setting that is there twice has all of its words.
func unitSettings(text string) map[string][]string {
	out := map[string][]string{}
	for _, line := range strings.Split(text, "\n") {
		key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if ok && !strings.HasPrefix(key, "#") {
			out[key] = append(out[key], strings.Fields(value)...)
		}
	}
	return out
}

// sandboxed says what of the recorder a unit's settings would break.
func sandboxed(set map[string][]string) (broken []string) {
	if bound, limited := set["CapabilityBoundingSet"]; limited {
		for name, what := range recorderNeeds {
			if !slices.Contains(bound, name) {
				broken = append(broken, "CapabilityBoundingSet without "+name+": "+what)
			}
		}
	}
	for _, name := range []string{"AF_UNIX", "AF_INET", "AF_INET6", "AF_NETLINK", "AF_PACKET"} {
		if families, limited := set["RestrictAddressFamilies"]; limited && !slices.Contains(families, name) {
			broken = append(broken, "RestrictAddressFamilies without "+name)
		}
	}
	// ProtectKernelTunables hides parts of /proc and /sys, ProtectKernelLogs and PrivateDevices /dev/kmsg,
	// RestrictNamespaces refuses setns(2), PrivateNetwork and PrivateUsers show another host.
	for _, key := range []string{"ProtectKernelTunables", "ProtectKernelLogs", "PrivateDevices", "RestrictNamespaces", "PrivateNetwork", "PrivateUsers", "PrivateMounts", "SystemCallFilter", "ProcSubset", "ProtectProc", "InaccessiblePaths", "User", "DynamicUser"} {
		if value, is := set[key]; is && !slices.Equal(value, []string{"no"}) {
			broken = append(broken, key+"="+strings.Join(value, " "))
		}
	}
	if !slices.Equal(set["LimitMEMLOCK"], []string{"infinity"}) {
		broken = append(broken, "LimitMEMLOCK is not infinity: before 5.11 BPF maps are locked memory")
	}
	if !slices.Contains(set["StateDirectory"], "snag") {
		broken = append(broken, "StateDirectory is not snag: the ring's folder would be read-only")
	}
	slices.Sort(broken)
	return broken
}

// The sandbox of the unit leaves the recorder's probes what they need.
func TestRecordUnitLeavesWhatTheProbesNeed(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../packaging/snag-record.service")
	if err != nil {
		t.Fatal(err)
	}
	if broken := sandboxed(unitSettings(string(b))); len(broken) > 0 {
		t.Errorf("it would break:\n%s", strings.Join(broken, "\n"))
	}
	for setting, want := range map[string]string{
		"CapabilityBoundingSet=CAP_BPF CAP_PERFMON": "CapabilityBoundingSet without CAP_SYS_ADMIN",
		"ProtectKernelTunables=yes":                 "ProtectKernelTunables=yes",
		"RestrictNamespaces=yes":                    "RestrictNamespaces=yes",
		"PrivateDevices=yes":                        "PrivateDevices=yes",
	} {
		if broken := strings.Join(sandboxed(unitSettings(string(b)+setting+"\n")), "\n"); !strings.Contains(broken, want) {
			t.Errorf("%s: %q", setting, broken)
		}
	}
	for drop, want := range map[string]string{"AF_NETLINK": "without AF_NETLINK", "LimitMEMLOCK=infinity": "LimitMEMLOCK", "StateDirectory=snag": "StateDirectory"} {
		if broken := strings.Join(sandboxed(unitSettings(strings.Replace(string(b), drop, "", 1))), "\n"); !strings.Contains(broken, want) {
			t.Errorf("without %s: %q", drop, broken)
		}
	}
}
