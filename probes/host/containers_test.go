package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snag/recording"
)

// The names of containers are written once, again in each piece of a ring, and no longer when they have gone.
func TestContainersAreNamed(t *testing.T) {
	p, env, sink := copied(t, nginx("S"))
	id := strings.Repeat("77aa0011", 8)
	dir := filepath.Join(filepath.Dir(env.Proc), "var/log/containers")
	link := filepath.Join(dir, "web-0_shop_app-"+id+".log")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/var/log/pods/shop_web-0_8d2f41aa-0c1d/app/0.log", link); err != nil {
		t.Fatal(err)
	}
	named := func() (out []string) {
		for _, f := range sink.Recording().Facts {
			if strings.HasPrefix(f.Name, recording.FactContainer) || strings.HasPrefix(f.Name, recording.FactPod) {
				out = append(out, f.Name+"="+f.Value)
			}
		}
		return out
	}
	now := time.Now()
	answered := func() {
		t.Helper()
		p.names.look(now)
		for range 500 {
			if len(p.names.came) > 0 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		p.names.look(now)
	}
	answered()
	want := recording.FactContainer + id + "=shop/web-0/app " + recording.FactPod + "8d2f41aa-0c1d=shop/web-0"
	if got := strings.Join(named(), " "); got != want {
		t.Fatalf("%s, want %s", got, want)
	}
	now = now.Add(namesEvery)
	answered()
	if n := len(named()); n != 2 {
		t.Errorf("%d names, and nothing changed", n)
	}
	p.names.again()
	if n := len(named()); n != 4 {
		t.Errorf("%d names after a piece began, want 4", n)
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	now = now.Add(namesEvery)
	answered()
	p.names.again()
	if n := len(named()); n != 4 {
		t.Errorf("%d names after the container has gone, want 4", n)
	}
}
