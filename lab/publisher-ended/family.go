// Package publisherended draws streams whose publisher goes away.
package publisherended

import (
	"fmt"
	"strings"
	"syscall"

	"snag/lab"
	"snag/lab/broadcast"
	"snag/lab/drawn"
)

// Family draws the incident: a publisher that is killed or asked to end, or whose connection is
// reset or kept out by a firewall. It comes back where the fault ends inside the window.
var Family = drawn.Family{
	Name: "publisher-ended", Kind: drawn.Streams, Origin: drawn.Lab, Needs: append([]lab.Tool{{Command: "nft", Package: "nftables"}}, broadcast.Tools...),
	Faults: []drawn.Fault{
		{Name: "killed", Suspects: []string{"service-killed"}, Subject: publisher, Account: "errors", Inside: true, Place: drawn.AtEncoder},
		{Name: "asked-to-end", Suspects: []string{"service-killed"}, Subject: publisher, Account: "errors", Inside: true, Place: drawn.AtEncoder},
		{Name: "reset", Suspects: []string{"service-killed"}, Subject: publisher, Also: []string{"peer-reset"}, Account: "errors", Inside: true, Place: drawn.AtEncoder},
		{Name: "firewall", Suspects: []string{"netfilter-drop"}, Subject: `10\.88\.1\.|:1935`, Also: []string{"service-killed", "peer-reset"}, Account: "loss", Inside: true, Place: drawn.AtEncoder},
	},
	Build: build,
}

const publisher = `ffmpeg|10\.88\.1\.`

func build(b *drawn.Bench) {
	verdict := drawn.Pick(b.Draw, "the firewall's verdict", "drop", "reject with tcp reset")
	w := broadcast.NewShow(b, broadcast.Kind{HLS: []bool{false, false, true}, Clocks: []broadcast.Clock{broadcast.FileClock, broadcast.FileClock, broadcast.CaptureClock}, Ends: true})
	again := func() {
		_ = syscall.Kill(w.Source.PID, syscall.SIGKILL) // it is gone, or will be
		w.Source = w.Encode(w.Clock, "", lab.MayEnd())
	}
	signal := func(sig syscall.Signal) func() {
		return func() { _ = syscall.Kill(w.Source.PID, sig) }
	}
	b.Switch("killed", signal(syscall.SIGKILL), again)
	b.Switch("asked-to-end", signal(syscall.SIGTERM), again)
	b.Switch("reset", func() {
		b.Command(w.Server, "ss", "-K", "src", strings.Split(broadcast.Ingest, ":")[0], "dport", w.PortOf(w.Source))
	}, again)
	port := ""
	b.Switch("firewall", func() {
		port = w.PortOf(w.Source)
		b.Command(w.Server, "nft", fmt.Sprintf("add table ip cut; add chain ip cut in { type filter hook input priority 0; }; add rule ip cut in tcp dport 1935 tcp sport %s ip saddr 10.88.1.2 %s", port, verdict))
	}, func() {
		b.Command(w.Server, "nft", "delete table ip cut")
		b.Command(w.Server, "ss", "-K", "dport", port) // the server would go on to hold the name for it
		again()
	})
	w.View()
}
