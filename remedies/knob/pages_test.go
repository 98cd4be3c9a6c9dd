package knob

import (
	"strings"
	"testing"
)

func TestEveryKindHasAPage(t *testing.T) {
	pages := map[string]bool{}
	for _, p := range Pages() {
		if pages[p.Name] || p.About == "" || p.Target == "" || p.Then == "" || p.Needs == "" || len(p.Settings) == 0 {
			t.Errorf("%+v", p)
		}
		pages[p.Name] = true
		seen := map[string]bool{}
		for _, d := range p.Settings {
			if seen[d.Name] || d.Name == "" || d.About == "" || d.Unit == "" || d.Range == "" || d.Since == "" || d.Helps == "" || d.Hurts == "" || d.Source == "" {
				t.Errorf("%s: %+v", p.Name, d)
			}
			seen[d.Name] = true
		}
	}
	for kind := range Kinds {
		if !pages[kind] && kind != "sysctl" {
			t.Errorf("%s has no page", kind)
		}
	}
}

func TestPageOf(t *testing.T) {
	for name, want := range map[string]string{
		"qdisc": "## fq flow_limit", "net.core.rmem_max": "- Range: 2304 to 2147483647", "net.ipv4.conf.eth0.rp_filter": "is an interface", "fq limit": "# qdisc", "CPUQuota": "systemd 213",
	} {
		p, ok := PageOf(name)
		if !ok || !strings.Contains(p.Markdown(), want) {
			t.Errorf("%s: %v\n%s", name, ok, p.Markdown())
		}
	}
	if p, ok := PageOf("net.core.no_such"); ok {
		t.Errorf("%+v", p)
	}
}
