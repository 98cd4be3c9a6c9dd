package procfile

// MachineSysctls are one for all namespaces. rmem_max and its kin are shown in
// the first namespace only by kernels before 6.10.
var MachineSysctls = []string{
	"net.core.rmem_max", "net.core.rmem_default", "net.core.wmem_max", "net.core.wmem_default",
	"net.core.netdev_max_backlog", "net.core.netdev_budget", "net.core.netdev_budget_usecs",
	"net.core.default_qdisc", "net.core.rps_sock_flow_entries", "net.ipv4.udp_mem", "net.ipv4.tcp_mem", "fs.file-max", "fs.nr_open",
}

// SpaceSysctls are set per namespace.
var SpaceSysctls = []string{
	"net.core.somaxconn", "net.ipv4.tcp_max_syn_backlog", "net.ipv4.tcp_abort_on_overflow",
	"net.ipv4.tcp_syncookies", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem",
	"net.ipv4.tcp_congestion_control", "net.ipv4.ip_local_port_range", "net.ipv4.udp_rmem_min",
	"net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_tw_reuse", "net.ipv4.tcp_mtu_probing",
	"net.ipv4.tcp_retries2", "net.ipv4.conf.all.rp_filter",
}
