package lab

import (
	"slices"
	"testing"
)

// What goes with the lab's own things is run, what stays on the host is not.
func TestOutside(t *testing.T) {
	r := reach{namespaces: []string{"snaglab7-app"}, pids: []int{100, 101}, groups: []string{"/sys/fs/cgroup/snaglab7-web"}, settings: []string{"/proc/sys/net/netfilter/nf_conntrack_max"}}
	streams := r
	streams.at = "snaglab7-viewer"
	for _, c := range []struct {
		command string
		at      reach
		inside  bool
	}{
		{"ip netns exec snaglab7-app sysctl -w net.ipv4.tcp_syncookies=1", r, true},
		{"ip netns exec snaglab7-app sysctl -w 'net.ipv4.tcp_rmem=4096 131072 8388608' net.core.rmem_max=8388608", r, true},
		{"ip netns exec snaglab7-app sysctl -w vm.swappiness=1", r, false},
		{"ip netns exec snaglab8-app sysctl -w net.ipv4.tcp_syncookies=1", r, false},
		{"ip netns exec snaglab7-app tc qdisc change dev eth0 root pfifo limit 100", r, true},
		{"ip netns exec snaglab7-app sh -c 'ip route change $(ip -o route show exact default) quickack 1'", r, true},
		{"ip netns exec snaglab7-app sh -c 'for q in 0 1; do echo 3 > /sys/class/net/eth0/queues/rx-$q/rps_cpus; done'", r, true},
		{"ip netns exec snaglab7-app sh -c 'echo 3 > /proc/irq/7/smp_affinity'", r, false},
		{"ip netns exec snaglab7-app reboot", r, false},
		{"ip netns exec snaglab7-app nft insert rule inet lab-filter input ip daddr 10.77.1.2 tcp dport 8080 accept", r, true},
		{"ip netns exec snaglab7-app ss -K 'dst 10.0.0.1:5 src 10.0.0.2:6' && kill -CONT 100", r, true},
		{"ip netns exec snaglab7-app ss -K 'dst 10.0.0.1:5 src 10.0.0.2:6' && kill -CONT 1", r, false},
		{"nsenter -t 101 -n ip route change 10.0.0.0/8 dev eth0 quickack 1", r, true},
		{"nsenter -t 1 -n ip route change 10.0.0.0/8 dev eth0 quickack 1", r, false},
		{"kill -CONT 100", r, true},
		{"kill -CONT 102", r, false},
		{"prlimit --pid 101 --nofile=65536:65536", r, true},
		{"taskset -apc 0-1 100", r, true},
		{"renice -n 19 -p $(ps -o lwp= -L -p 100,101)", r, true},
		{"renice -n 19 -p $(ps -o lwp= -L -p 100,1)", r, false},
		{"echo '20000 100000' > /sys/fs/cgroup/snaglab7-web/cpu.max", r, true},
		{"echo '20000 100000' > /sys/fs/cgroup/system.slice/cpu.max", r, false},
		{"echo defer > /sys/kernel/mm/transparent_hugepage/defrag", r, false},
		{"sysctl -w net.netfilter.nf_conntrack_max=262144", r, true}, // the family puts it back
		{"sysctl -w net.core.netdev_max_backlog=10000", r, false},
		{"sysctl -w net.netfilter.nf_conntrack_max=262144 vm.swappiness=1", r, false},
		{"systemctl set-property --runtime nginx.service CPUQuota=200%", r, false},
		{"tc qdisc change dev eth0 root pfifo limit 100", r, false},
		{"tc qdisc change dev eth0 root pfifo limit 100", streams, true}, // snag ran there
		{"systemctl start nginx.service", streams, false},
	} {
		why := ""
		for _, part := range outsideQuotes(c.command, " && ") {
			if why == "" {
				why = c.at.outside(part)
			}
		}
		if (why == "") != c.inside {
			t.Errorf("%q: %q", c.command, why)
		}
	}
}

func TestOutsideQuotes(t *testing.T) {
	got := outsideQuotes("sh -c 'a && b' && c", " && ")
	if !slices.Equal(got, []string{"sh -c 'a && b'", "c"}) {
		t.Errorf("%q", got)
	}
}
