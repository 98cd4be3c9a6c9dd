package report

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"snag/remedies/plan"
)

var updatePlan = flag.Bool("update-plan", false, "write testdata/plan.txt anew")

const aPlan = `version: 1
host: edge-3
kernel: 6.12.9
for: {suspect: softnet-backlog, subject: CPU 1, text: "its backlog was full: dropped 23,134 of 48,004 received packets of eth0"}
changes:
  - id: "1"
    target: {kind: sysctl, name: net.core.netdev_max_backlog}
    now: "1000"
    then: "4096"
    why: the second with the highest loss lost 3,846 packets at a backlog of 1,000
    risk: up to 8 MiB of memory a CPU
    check: "/proc/net/softnet_stat, column 2 no longer grows (by 23,134 packets in 8s before)"
    persists: sysctl.d
  - id: "2"
    target: {kind: route, name: quickack, route: default, netns: media}
    now: ""
    then: "1"
    why: the receiver acknowledges each segment at once
    needs: nothing
    with: ["1"]
advice:
  - who: relay[812]
    do: setsockopt(fd, SOL_SOCKET, SO_RCVBUF, 4194304)
    why: it asks for 128 KiB
conflicts:
  - "/etc/sysctl.d/99-old.conf:3 sets net.core.netdev_max_backlog to 300 at the next boot, after ours"
verify: {symptom: datagrams-lost, subject: CPU 1, before: 23134, unit: packets, for: 8s}
`

func TestAPlanForAPerson(t *testing.T) {
	p, err := plan.Parse([]byte(aPlan))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WritePlan(&b, p, Options{Width: 80}); err != nil {
		t.Fatal(err)
	}
	const file = "testdata/plan.txt"
	if *updatePlan {
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("the text is another (go test ./report -update-plan):\n%s", b.String())
	}
}
