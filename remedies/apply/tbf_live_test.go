package apply

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"snag/remedies/knob"
	"snag/remedies/plan"
)

// Token buckets of any size come back bit by bit as netlink reported them, handle and
// all, after their rate, limit and burst were changed, and after another kind took their
// place; or the change is refused before it.
func TestTokenBucketsComeBackAsTheyWere(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	name := fmt.Sprintf("snagtbf%d", os.Getpid())
	run := func(words string) string {
		t.Helper()
		out, err := exec.Command("ip", strings.Fields("netns exec "+name+" "+words)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", words, err, out)
		}
		return string(out)
	}
	if out, err := exec.Command("ip", "netns", "add", name).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	defer func() { _ = exec.Command("ip", "netns", "del", name).Run() }()
	run("ip link add nic0 type veth peer name nic1")
	run("ip link set nic0 up")
	random := rand.New(rand.NewPCG(7, 7))
	root := plan.Target{Kind: "qdisc", Device: "nic0", Netns: name}
	raw := func() string {
		t.Helper()
		snapshot, err := knob.Kinds["qdisc"].(knob.Exact).Snapshot(knob.Real(), root)
		if err != nil {
			t.Fatal(err)
		}
		return snapshot
	}
	same, refused := 0, 0
	for n := range 64 {
		rate := uint64(8000 * pow(10, 7*random.Float64())) // 8 kbit/s to 80 Gbit/s
		burst, limit := 2000+random.IntN(1<<(12+random.IntN(11))), 3000+random.IntN(1<<22)
		words := fmt.Sprintf("tbf rate %dbit burst %d limit %d", rate, burst, limit)
		if n%8 == 7 {
			words += fmt.Sprintf(" peakrate %dbit mtu 2000", 2*rate)
		}
		if exec.Command("ip", strings.Fields("netns exec "+name+" tc qdisc replace dev nic0 root handle "+strconv.FormatInt(int64(n+1), 16)+": "+words)...).Run() != nil {
			continue // tc itself refuses such a burst
		}
		before := raw()
		s := &Store{Dir: filepath.Join(t.TempDir(), "state"), Host: knob.Real(), Kinds: knob.Kinds, Boot: "b", Arm: func(string, time.Time) (string, error) { return "nobody", nil }}
		p := &plan.Plan{Version: plan.Version}
		for option, value := range map[string]string{"rate": fmt.Sprint(rate / 8 * 24), "limit": fmt.Sprint(limit * 2), "": "pfifo limit 77"} {
			if (option == "") != (n%2 == 0) {
				continue
			}
			target := root
			target.Name = option
			now, err := s.Kinds["qdisc"].Read(s.Host, target)
			if err != nil {
				t.Logf("%s is refused: %v", words, err)
				continue
			}
			p.Changes = append(p.Changes, plan.Change{ID: option + "x", Target: target, Now: now, Then: value, Why: "a test"})
		}
		if len(p.Changes) == 0 {
			refused++
			continue
		}
		if _, err := s.Apply(p, time.Minute, nil); err != nil {
			if after := raw(); after != before {
				t.Errorf("%s: refused (%v), and it is %s, was %s", words, err, after, before)
			}
			t.Logf("%s is refused: %v", words, err)
			refused++
			continue
		}
		if raw() == before {
			t.Errorf("%s: nothing was changed", words)
		}
		if _, err := s.Undo("", "asked for"); err != nil {
			t.Errorf("%s: %v", words, err)
		}
		if after := raw(); after != before {
			t.Errorf("%s: it is %s, was %s", words, after, before)
			continue
		}
		same++
	}
	t.Logf("%d came back bit by bit, %d were refused before the change", same, refused)
	if same < 40 {
		t.Errorf("only %d", same)
	}
}

func pow(x, y float64) (z float64) {
	for z = 1; y >= 1; y-- {
		z *= x
	}
	return z * (1 + y*(x-1))
}
