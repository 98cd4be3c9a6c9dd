package candidate

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"snag/remedies/apply"
	"snag/remedies/knob"
	"snag/remedies/plan"
	"snag/remedies/sysctld"
)

// where is a host in a folder: kernel 6.1, 8 GiB.
func where(t *testing.T) Where {
	t.Helper()
	dir := t.TempDir()
	for name, v := range map[string]string{
		"meminfo": "MemTotal:        8388608 kB\n", "sys/kernel/osrelease": "6.1.0-10-amd64\n", "sys/net/core/somaxconn": "4096\n", "sys/net/core/rmem_default": "212992\n",
		"sys/net/ipv4/tcp_rmem": "4096\t131072\t6291456\n", "sys/net/ipv4/tcp_fin_timeout": "60\n", "sys/net/ipv4/tcp_syncookies": "1\n", "sys/vm/min_free_kbytes": "67584\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(v), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	h := knob.Host{Proc: dir, In: func(_ string, f func() error) error { return f() }}
	s := &apply.Store{Dir: filepath.Join(dir, "state"), Host: h, Kinds: knob.Kinds}
	return Where{Host: h, Kinds: knob.Kinds, Triable: s.Triable}
}

func names(all []Candidate) (out []string) {
	for _, c := range all {
		out = append(out, fmt.Sprintf("%s %s > %s", c.Switch.Target.Name, c.Switch.Off, c.Switch.On))
	}
	return out
}

func TestInheritedSettings(t *testing.T) {
	w := where(t)
	set := []sysctld.Setting{
		{Name: "net.core.somaxconn", Value: "65535", File: "/etc/sysctl.d/a.conf", Line: 3},
		{Name: "net.ipv4.tcp_rmem", Value: "4096 87380 16777216"},
		{Name: "net.ipv4.tcp_fin_timeout", Value: "60"},
		{Name: "net.ipv4.tcp_syncookies", Value: "7"},
		{Name: "vm.min_free_kbytes", Value: "131072"},
		{Name: "kernel.panic", Value: "10"},
		{Name: "net.ipv4.tcp_tw_reuse", Value: "1"},
	}
	all, left := FromFiles(set, []sysctld.Problem{{File: "a.conf", Line: 9, Text: "x", Why: "no ="}}, w)
	if got := names(all); !slices.Equal(got, []string{"net.core.somaxconn 4096 > 65535", "net.ipv4.tcp_rmem 4096 131072 6291456 > 4096 87380 16777216"}) || all[0].From != "a.conf:3" {
		t.Errorf("%q", got)
	}
	for i, want := range []string{"no =", "kernel's own default", "is 0 to 2", "--default vm.min_free_kbytes=VALUE", "not one that snag sets", "no such setting"} {
		if !strings.Contains(left[i].Why, want) {
			t.Errorf("%+v, want %q", left[i], want)
		}
	}
	w.Defaults = map[string]string{"vm.min_free_kbytes": "67584"}
	w.Live = true
	all, left = FromFiles(set, nil, w)
	if got := names(all); !slices.Equal(got, []string{"net.ipv4.tcp_rmem 4096 131072 6291456 > 4096 87380 16777216", "vm.min_free_kbytes 67584 > 131072"}) {
		t.Errorf("under live traffic: %q", got)
	}
	if !strings.Contains(left[0].Why, "open connections keep") {
		t.Errorf("%+v", left[0])
	}
	w.Netns = "a"
	if all, _ = FromFiles(set, nil, w); len(all) != 1 {
		t.Errorf("in a namespace: %q", names(all))
	}
}

func TestAPlansChanges(t *testing.T) {
	w := where(t)
	p := &plan.Plan{Version: plan.Version}
	for i, c := range []struct{ name, now, then string }{
		{"net.core.somaxconn", "4096", "16384"}, {"net.ipv4.tcp_fin_timeout", "60", "15"}, {"net.ipv4.tcp_tw_reuse", "2", "1"}, {"net.ipv4.tcp_syncookies", "1", "0"},
	} {
		p.Changes = append(p.Changes, plan.Change{ID: fmt.Sprint(i + 1), Target: plan.Target{Kind: "sysctl", Name: c.name}, Now: c.now, Then: c.then, Why: "a test"})
	}
	p.Changes[0].Needs = "a restart of nginx[7]"
	p.Changes[1].With = []string{"3", "4"}
	all, left := FromPlan(p, w)
	if got := names(all); !slices.Equal(got, []string{"net.core.somaxconn 4096 > 16384", "net.ipv4.tcp_fin_timeout 60 > 15", "net.ipv4.tcp_syncookies 1 > 0"}) || len(left) != 1 {
		t.Errorf("%q %+v", got, left)
	}
	if f := Factors(all); fmt.Sprint(f) != "[[0] [1 2]]" {
		t.Errorf("%v", f)
	}
	w.Live = true
	if all, left = FromPlan(p, w); len(all) != 2 || !strings.Contains(left[0].Why, "--load") {
		t.Errorf("under live traffic: %q %+v", names(all), left)
	}
}
