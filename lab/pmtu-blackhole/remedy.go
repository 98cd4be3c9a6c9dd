package pmtublackhole

import (
	"time"

	"snag/lab"
	"snag/remedies/plan"
)

// TCP looks for the size that passes by itself. The uploads that stand still wait for
// their next retransmission, which is a long time by then: they are started again. A new
// one is stuck for its first retransmissions too (net/ipv4/tcp_timer.c,
// tcp_write_timeout: tcp_retries1 of them, some 3 s).
var remedy = &lab.Remedy{
	Settle:  10 * time.Second,
	Restart: map[string]func([]string) []string{"upload-1": nil, "upload-2": nil, "upload-3": nil},
	Wrong:   []plan.Change{{Target: plan.Target{Kind: "sysctl", Name: "net.ipv4.tcp_slow_start_after_idle", Netns: "client"}, Then: "0"}},
}
