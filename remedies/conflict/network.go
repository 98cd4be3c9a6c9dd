package conflict

import (
	"fmt"
	"path"
	"strings"

	"snag/remedies/plan"
)

// linkKeys are the keys of systemd.link(5) for what a plan changes, by kind and name.
var linkKeys = map[string]string{
	"ring rx": "RxBufferSize", "ring tx": "TxBufferSize", "ring rx-mini": "RxMiniBufferSize", "ring rx-jumbo": "RxJumboBufferSize",
	"channels rx": "RxChannels", "channels tx": "TxChannels", "channels other": "OtherChannels", "channels combined": "CombinedChannels",
	"coalesce adaptive-rx": "UseAdaptiveRxCoalesce", "coalesce adaptive-tx": "UseAdaptiveTxCoalesce",
	"coalesce rx-usecs": "RxCoalesceSec", "coalesce tx-usecs": "TxCoalesceSec", "coalesce rx-frames": "RxMaxCoalescedFrames", "coalesce tx-frames": "TxMaxCoalescedFrames",
	"feature rx-ntuple-filter": "NTupleFilter", "feature rx-gro": "GenericReceiveOffload", "feature rx-lro": "LargeReceiveOffload",
	"txqueuelen": "TransmitQueueLength", "rps": "ReceivePacketSteeringCPUMask",
}

// qdiscSections of systemd.network(5).
var qdiscSections = []string{"FairQueueing", "FairQueueingControlledDelay", "TokenBucketFilter", "ControlledDelay", "CAKE", "PFIFO", "BFIFO", "PFIFOFast",
	"StochasticFairnessQueueing", "FlowQueuePIE", "PIE", "HierarchyTokenBucket", "NetworkEmulator"}

// networkFiles: systemd-networkd and udev set what their files say when the interface
// comes up; netplan writes such files.
func networkFiles(p *plan.Plan, f Facts) (out []string) {
	links, networks := matchesOf(f.Files.Links), matchesOf(f.Files.Networks)
	for _, c := range p.Changes {
		t := c.Target
		if t.Netns != "" || t.Device == "" && t.Kind != "sysctl" {
			continue
		}
		key := linkKeys[strings.TrimSpace(t.Kind+" "+t.Name)]
		for _, l := range f.Files.Links {
			if key != "" && l.Section == "Link" && l.Key == key && concerns(links[l.File], t.Device) {
				out = append(out, fmt.Sprintf("change %s: %s:%d has %s=%s for %s, and of the .link files that match only the first is used", c.ID, l.File, l.N, l.Key, l.Value, t.Device))
			}
		}
		for _, l := range f.Files.Networks {
			if t.Kind == "qdisc" && isQdisc(l.Section) && concerns(networks[l.File], t.Device) {
				out = append(out, fmt.Sprintf("change %s: %s:%d makes the qdisc of %s ([%s] %s=%s) when the interface comes up", c.ID, l.File, l.N, t.Device, l.Section, l.Key, l.Value))
			}
			device, ok := strings.CutPrefix(t.Name, "net.ipv4.conf.")
			device, filter := strings.CutSuffix(device, ".rp_filter")
			if ok && filter && l.Section == "Network" && l.Key == "IPv4ReversePathFilter" && concerns(networks[l.File], device) {
				out = append(out, fmt.Sprintf("change %s: %s:%d has IPv4ReversePathFilter=%s for %s, which networkd sets when the interface comes up", c.ID, l.File, l.N, l.Value, device))
			}
		}
	}
	return out
}

func isQdisc(section string) bool {
	for _, s := range qdiscSections {
		if s == section {
			return true
		}
	}
	return false
}

// matchesOf are the names that files ask for in [Match]; a file that asks for none is
// not there.
func matchesOf(all []Line) map[string][]string {
	out := map[string][]string{}
	for _, l := range all {
		if l.Section == "Match" && (l.Key == "Name" || l.Key == "OriginalName") {
			out[l.File] = append(out[l.File], strings.Fields(l.Value)...)
		}
	}
	return out
}

// concerns reports whether a file that asks for some names may hold for an interface. What
// it asks besides (a driver, an address) is taken to hold.
func concerns(names []string, device string) bool {
	for _, pattern := range names {
		if ok, err := path.Match(pattern, device); err == nil && ok {
			return true
		}
	}
	return len(names) == 0
}
