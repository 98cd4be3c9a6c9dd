package net

import (
	"fmt"
	"strings"
	"testing"

	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/suspect"
	"snag/suspects/suspect/suspecttest"
)

func numberOf(n int) *int { return &n }

func remedyFor(r *recording.Recording, cpu int) suspect.Remedy {
	recording.SortSeries(r.Series)
	return placeOf(scene.Build(r), r, cpu, nil).remedy
}

// remedyIs wants that command, and parts of where it is kept.
func remedyIs(t *testing.T, got suspect.Remedy, command string, kept ...string) {
	t.Helper()
	if got.Now != command {
		t.Errorf("now %q, want %q", got.Now, command)
	}
	for _, p := range kept {
		if !strings.Contains(got.Permanently, p) {
			t.Errorf("permanently %q lacks %q", got.Permanently, p)
		}
	}
}

// A card that could have more queues gets as many as there are CPUs, and no more
// than it can have.
func TestMoreQueuesFirst(t *testing.T) {
	for cpus, want := range map[int]string{8: "combined 8", 128: "combined 63"} {
		r := suspecttest.HostOf(cpus)
		r.NICs = []recording.NIC{{Netns: 1, Device: "eth0", Bus: "0000:03:00.0", Channels: &recording.Channels{Combined: numberOf(1), CombinedMax: numberOf(63)}}}
		r.Series = []recording.Series{suspecttest.GrowingTo("node_network_receive_packets_total", recording.Labels{"device": "eth0"}, 9e6)}
		remedyIs(t, remedyFor(r, 0), "ethtool -L eth0 "+want, ".link")
	}
}

// Four queues whose interrupts all go to CPU 0, as /proc/interrupts of the host
// 103-17-164-sh-100-k07 shows (eth3-TxRx-0 to 3).
func TestInterruptsApart(t *testing.T) {
	r := suspecttest.HostOf(4)
	r.NICs = []recording.NIC{{Netns: 1, Device: "eth3", Bus: "0000:04:00.1", Channels: &recording.Channels{Combined: numberOf(4), CombinedMax: numberOf(63)}}}
	for i, n := range []float64{746827548, 2674693551, 2341522223, 3587929355} {
		irq := 55 + i
		r.IRQs = append(r.IRQs, recording.IRQ{Netns: 1, Device: "eth3", Number: irq, Name: fmt.Sprintf("eth3-TxRx-%d", i), Allowed: "0-3", Effective: "0"})
		for cpu := range 4 {
			v := 0.0
			if cpu == 0 {
				v = n
			}
			r.Series = append(r.Series, suspecttest.GrowingTo("node_interrupts_total", recording.Labels{"cpu": fmt.Sprint(cpu), "type": fmt.Sprint(irq)}, v))
		}
	}
	recording.SortSeries(r.Series)
	p := placeOf(scene.Build(r), r, 0, nil)
	remedyIs(t, p.remedy, "echo 1 > /proc/irq/58/smp_affinity && echo 2 > /proc/irq/56/smp_affinity && echo 4 > /proc/irq/57/smp_affinity && echo 8 > /proc/irq/55/smp_affinity", "irqbalance")
	if len(p.devices) != 1 || p.devices[0].Device != "eth3" {
		t.Errorf("devices %+v", p.devices)
	}
	if len(p.evidence) != 3 || !strings.Contains(p.evidence[0].Text, "interrupt 58 (eth3-TxRx-3 of eth3) came 3,587,929,355 times to CPU 0; it may go to CPU 0-3") {
		t.Errorf("evidence %+v", p.evidence)
	}
}

// A card with one queue and no more to have: RPS over the other CPUs, in hex groups
// of 8 with commas above 32 CPUs, without 0x; flows to a power of two.
func TestReceivePacketSteering(t *testing.T) {
	for cpus, mask := range map[int]string{4: "e", 40: "000000ff,fffffffe", 256: strings.Repeat("ffffffff,", 7) + "fffffffe"} {
		r := suspecttest.HostOf(cpus)
		r.NICs = []recording.NIC{{Netns: 1, Device: "eth0", Bus: "virtio2", Channels: &recording.Channels{Combined: numberOf(1), CombinedMax: numberOf(1)}}}
		none := ""
		for q := range 3 {
			r.Queues = append(r.Queues, recording.Queue{Netns: 1, Device: "eth0", Dir: "rx", Index: q, RPS: &none})
		}
		r.Series = []recording.Series{suspecttest.GrowingTo("node_network_receive_packets_total", recording.Labels{"device": "eth0"}, 9e6)}
		remedyIs(t, remedyFor(r, 0), "sysctl -w net.core.rps_sock_flow_entries=32768 && for q in 0 1 2; do echo "+mask+" > /sys/class/net/eth0/queues/rx-$q/rps_cpus; echo 16384 > /sys/class/net/eth0/queues/rx-$q/rps_flow_cnt; done", "net.core.rps_sock_flow_entries = 32768 in /etc/sysctl.d")
	}
}

// The same as data: a mask for each queue, all of one group.
func TestReceivePacketSteeringAsData(t *testing.T) {
	for cpus, mask := range map[int]string{4: "e", 40: "000000ff,fffffffe"} {
		r := suspecttest.HostOf(cpus)
		none := ""
		for q := range 3 {
			r.Queues = append(r.Queues, recording.Queue{Netns: 1, Device: "eth0", Dir: "rx", Index: q, RPS: &none})
		}
		suspecttest.SettingsAre(t, rpsSettings(r, 0, suspect.OnDevice(1, "eth0")), "sysctl net.core.rps_sock_flow_entries → 32768",
			"rps of eth0 queue 0 → "+mask, "rfs of eth0 queue 0 → 16384", "rps of eth0 queue 1 → "+mask, "rfs of eth0 queue 1 → 16384", "rps of eth0 queue 2 → "+mask, "rfs of eth0 queue 2 → 16384")
	}
}

// The CPUs of the card's own node come first, for masks and for interrupts.
func TestSteeringStaysOnTheNode(t *testing.T) {
	r := suspecttest.HostOf(64)
	r.Facts = []recording.Fact{{Name: "nic.eth0.numa_node", Value: "1"}, {Name: "numa.0.cpus", Value: "0-15,32-47"}, {Name: "numa.1.cpus", Value: "16-31,48-63"}}
	none := ""
	r.Queues = []recording.Queue{{Netns: 1, Device: "eth0", Dir: "rx", Index: 0, RPS: &none}}
	suspecttest.SettingsAre(t, rpsSettings(r, 16, suspect.OnDevice(1, "eth0")), "sysctl net.core.rps_sock_flow_entries → 32768", "rps of eth0 queue 0 → ffff0000,fffe0000", "rfs of eth0 queue 0 → 32768")
	irqs := []countedIRQ{{recording.IRQ{Device: "eth0", Number: 90, Name: "eth0-0"}, 1e6}, {recording.IRQ{Device: "eth0", Number: 91, Name: "eth0-1"}, 1e6}}
	suspecttest.SettingsAre(t, spreadSettings(r, 0, suspect.OnDevice(1, "eth0"), irqs), "irq 90 → 00000000,00010000", "irq 91 → 00000000,00020000")
}

// With a queue for each CPU a mask of one CPU is taken away, not spread.
func TestSteeringOffWhereTheCardSpreads(t *testing.T) {
	r := suspecttest.HostOf(2)
	one, none := "1", ""
	r.Queues = []recording.Queue{{Netns: 1, Device: "eth0", Dir: "rx", Index: 0, RPS: &one}, {Netns: 1, Device: "eth0", Dir: "rx", Index: 1, RPS: &none}}
	suspecttest.SettingsAre(t, rpsSettings(r, 1, suspect.OnDevice(1, "eth0")), "rps of eth0 queue 0 → 0")
}

// A mask of one CPU names its interface, though another received more.
func TestAMaskOfOneCPUIsNamed(t *testing.T) {
	r := suspecttest.HostOf(4)
	one := "1"
	r.Queues = []recording.Queue{{Netns: 1, Device: "eth1", Dir: "rx", Index: 0, RPS: &one}}
	r.Series = []recording.Series{suspecttest.GrowingTo("node_network_receive_packets_total", recording.Labels{"device": "eth0"}, 9e6)}
	recording.SortSeries(r.Series)
	p := placeOf(scene.Build(r), r, 1, nil)
	if len(p.devices) != 1 || p.devices[0].Device != "eth1" || len(p.evidence) != 1 {
		t.Errorf("%+v", p)
	}
	if p := placeOf(scene.Build(r), r, 2, nil); len(p.evidence) != 0 || p.devices[0].Device != "eth0" {
		t.Errorf("CPU 2: %+v", p)
	}
}

// The backlog's and the budgets' proposals come with the host's own values.
func TestBacklogRemedy(t *testing.T) {
	r := suspecttest.HostOf(2)
	for name, v := range map[string]string{"net.core.netdev_max_backlog": "1000", "net.core.netdev_budget": "300", "net.core.netdev_budget_usecs": "8000"} {
		r.Facts = append(r.Facts, recording.Fact{Name: name, Value: v})
	}
	s, on := scene.Build(r), &softCPU{}
	remedy := func(r *recording.Recording, on *softCPU, drops measure.Steps, squeezed float64) suspect.Remedy {
		set, _ := softnetSettings(r, on, drops, squeezed)
		return backlogRemedy(s, r, on, drops, set)
	}
	drops := measure.Steps{{Interval: recording.Interval{Start: 1, End: 1e9}, N: 400}}
	remedyIs(t, remedy(r, on, drops, 7), "sysctl -w net.core.netdev_max_backlog=4096 net.core.netdev_budget=600 net.core.netdev_budget_usecs=16000", "/etc/sysctl.d")
	remedyIs(t, remedy(r, on, drops, 0), "sysctl -w net.core.netdev_max_backlog=4096")
	drops[0].N = 1e6
	remedyIs(t, remedy(r, on, drops, 0), "sysctl -w net.core.netdev_max_backlog=65536")
	remedyIs(t, remedy(suspecttest.HostOf(2), on, drops, 0), "", "net.core.netdev_max_backlog")
	busy := []cpuShare{{recording.Interval{Start: 1, End: 1e9}, 0.97}}
	remedyIs(t, remedy(r, &softCPU{id: 1, busy: busy, dropped: drops}, drops, 0), "", "Take work off CPU 1")
}
