package knob

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/godbus/dbus/v5"

	"snag/internal/systemdtest"
	"snag/remedies/plan"
)

// fakeManager answers as org.freedesktop.systemd1(5) says that systemd does, of one unit:
// a drop-in counts once the manager was told to reload.
type fakeManager struct {
	mu      sync.Mutex
	run     string
	own     map[string]any // what the unit's file says
	now     map[string]any
	reloads int
	refuse  *dbus.Error
}

func (m *fakeManager) LoadUnit(name string) (dbus.ObjectPath, *dbus.Error) {
	if name == "nginx.service" {
		return "/org/freedesktop/systemd1/unit/nginx_2eservice", nil
	}
	return "/org/freedesktop/systemd1/unit/none", nil
}

func (m *fakeManager) Reload() *dbus.Error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reloads++
	for name, v := range m.own {
		m.now[name] = v
	}
	files, _ := filepath.Glob(filepath.Join(m.run, "systemd/system/nginx.service.d/*.conf"))
	for _, file := range files {
		b, _ := os.ReadFile(file)
		for _, line := range strings.Split(string(b), "\n") {
			name, value, _ := strings.Cut(line, "=")
			p, ok := unitPropertyOf(name)
			if !ok || value == "" {
				continue
			}
			v, err := p.parse(value)
			switch {
			case err != nil:
				return dbus.MakeFailedError(err)
			case p.form == limitsForm:
				m.now[p.property+"Soft"], m.now[p.property] = v[0], v[1]
			default:
				m.now[p.property] = v[0]
			}
		}
	}
	return nil
}

func (m *fakeManager) SetUnitProperties(unit string, runtime bool, properties []struct {
	Name  string
	Value dbus.Variant
}) *dbus.Error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refuse != nil {
		return m.refuse
	}
	if unit != "nginx.service" || !runtime {
		return dbus.MakeFailedError(errors.New("it is for this boot only"))
	}
	for _, p := range properties {
		m.now[p.Name] = p.Value.Value()
	}
	return nil
}

// Get is that of org.freedesktop.DBus.Properties.
func (m *fakeManager) Get(iface, name string) (dbus.Variant, *dbus.Error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if iface == systemdName+".Unit" && name == "LoadState" {
		return dbus.MakeVariant("loaded"), nil
	}
	v, ok := m.now[name]
	if !ok || iface != systemdName+".Service" {
		return dbus.Variant{}, dbus.NewError("org.freedesktop.DBus.Error.UnknownProperty", []any{iface + " " + name})
	}
	return dbus.MakeVariant(v), nil
}

// nothing is a unit that no file has.
type nothing struct{}

func (nothing) Get(_, _ string) (dbus.Variant, *dbus.Error) {
	return dbus.MakeVariant("not-found"), nil
}

// serve puts the manager on a bus.
func (m *fakeManager) serve(t *testing.T, connect func() (*dbus.Conn, error)) {
	t.Helper()
	conn, err := connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	for _, e := range []struct {
		what  any
		path  dbus.ObjectPath
		iface string
	}{
		{m, "/org/freedesktop/systemd1", systemdManager},
		{m, "/org/freedesktop/systemd1/unit/nginx_2eservice", "org.freedesktop.DBus.Properties"},
		{nothing{}, "/org/freedesktop/systemd1/unit/none", "org.freedesktop.DBus.Properties"},
	} {
		if err := conn.Export(e.what, e.path, e.iface); err != nil {
			t.Fatal(err)
		}
	}
	if reply, err := conn.RequestName(systemdName, dbus.NameFlagDoNotQueue); err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		t.Fatal(reply, err)
	}
}

const none = uint64(1<<64 - 1)

func TestPropertiesOfAUnit(t *testing.T) {
	own := map[string]any{"CPUQuotaPerSecUSec": none, "TasksMax": uint64(4915), "MemoryHigh": none, "LimitNOFILESoft": uint64(1024), "LimitNOFILE": uint64(524288),
		"NUMAPolicy": int32(-1), "NUMAMask": []byte{}, "CPUAffinity": []byte{3}}
	now := map[string]any{}
	for name, v := range own {
		now[name] = v
	}
	m := &fakeManager{run: t.TempDir(), own: own, now: now}
	connect := systemdtest.Bus(t)
	m.serve(t, connect)
	h := Real()
	h.systemd, h.run = connect, m.run
	k := Kinds["unit"]
	for _, c := range []struct{ name, old, then, sent string }{
		{"CPUQuota", "infinity", "150%", "1500000"}, {"TasksMax", "4915", "infinity", "18446744073709551615"}, {"MemoryHigh", "infinity", "1073741824", "1073741824"},
		{"LimitNOFILE", "1024:524288", "65536:524288", "524288"}, {"NUMAPolicy", "unset", "bind", "2"}, {"NUMAMask", "unset", "0-1", "[3]"}, {"CPUAffinity", "0-1", "0,8-9", "[1 3]"},
	} {
		target := plan.Target{Kind: "unit", Unit: "nginx.service", Name: c.name}
		p, _ := unitPropertyOf(c.name)
		if got, err := k.Read(h, target); got != c.old || err != nil {
			t.Errorf("%s: %q, %v; want %q", target, got, err, c.old)
		}
		if err := k.Valid(target, c.then); err != nil {
			t.Error(err)
		}
		if err := k.Write(h, target, c.then); err != nil {
			t.Error(err)
		}
		if got, err := k.Read(h, target); err != nil || !k.Same(target, got, c.then) || fmt.Sprint(m.now[p.property]) != c.sent {
			t.Errorf("%s: %q, %v (%v); want %q", target, got, err, m.now[p.property], c.then)
		}
		if err := k.Write(h, target, c.old); err != nil {
			t.Error(err)
		}
		if got, err := k.Read(h, target); got != c.old || err != nil {
			t.Errorf("%s put back: %q, %v; want %q", target, got, err, c.old)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(m.run, "systemd/system/*")); left != nil {
		t.Errorf("what was put back left %v", left)
	}
	gone := plan.Target{Kind: "unit", Unit: "none.service", Name: "TasksMax"}
	if _, err := k.Read(h, gone); !errors.Is(err, ErrAbsent) {
		t.Errorf("a unit that is not there: %v", err)
	}
	m.refuse = dbus.MakeFailedError(errors.New("Unit nginx.service is transient"))
	tasks := plan.Target{Kind: "unit", Unit: "nginx.service", Name: "TasksMax"}
	if err := k.Write(h, tasks, "9"); err == nil || !strings.Contains(err.Error(), "systemd says: Unit nginx.service is transient") {
		t.Errorf("a refusal: %v", err)
	}
}

func TestWhatIsNoPropertyOfAUnit(t *testing.T) {
	for target, value := range map[plan.Target]string{
		{Unit: "nginx.service", Name: "ExecStart"}:      "/bin/sh",
		{Unit: "../nginx.service", Name: "TasksMax"}:    "5",
		{Unit: "a..b.service", Name: "TasksMax"}:        "5",
		{Unit: ".service", Name: "TasksMax"}:            "5",
		{Unit: "nginx", Name: "TasksMax"}:               "5",
		{Unit: "nginx.timer", Name: "TasksMax"}:         "5",
		{Unit: "user.slice", Name: "LimitNOFILE"}:       "5:5",
		{Unit: "nginx.service", Name: "TasksMax"}:       "0",
		{Unit: "nginx.service", Name: "CPUQuota"}:       "150",
		{Unit: "nginx.service", Name: "LimitNOFILE"}:    "10:5",
		{Unit: "nginx.service", Name: "NUMAPolicy"}:     "local\nExecStart=/bin/sh",
		{Unit: "nginx.service", Name: "CPUAffinity"}:    "0-999999",
		{Unit: "nginx.service", Name: "NUMAMask"}:       "1-0",
		{Unit: "nginx.service", Name: "MemoryMax"}:      "1G",
		{Unit: "nginx.service", Name: "CPUWeight"}:      "infinite",
		{Unit: "nginx@a b.service", Name: "TasksMax"}:   "5",
		{Unit: "nginx.service\x00", Name: "TasksMax"}:   "5",
		{Unit: "nginx.service", Name: ""}:               "5",
		{Unit: "nginx.service", Name: "LimitMEMLOCK"}:   "a:b",
		{Unit: "nginx.service", Name: "OOMScoreAdjust"}: "-1000",
	} {
		target.Kind = "unit"
		if (unit{}).Valid(target, value) == nil {
			t.Errorf("%s takes %q", target, value)
		}
	}
	if Needs(plan.Target{Kind: "unit", Unit: "nginx.service", Name: "LimitNOFILE"}) == "" || Needs(plan.Target{Kind: "unit", Unit: "nginx.service", Name: "CPUQuota"}) != "" {
		t.Error("who needs a restart")
	}
}

func TestAHostWithoutSystemd(t *testing.T) {
	if _, err := os.Stat("/run/systemd/system"); err == nil {
		t.Skip("systemd runs this host")
	}
	_, err := Kinds["unit"].Read(Real(), plan.Target{Kind: "unit", Unit: "nginx.service", Name: "TasksMax"})
	if !errors.Is(err, ErrAbsent) || !strings.Contains(err.Error(), "systemd does not run this host") {
		t.Error(err)
	}
}

func FuzzUnit(f *testing.F) {
	f.Add("nginx.service", "CPUAffinity", "0-3,8")
	f.Add("a@b.service", "CPUQuota", "12.5%")
	f.Add("a.service", "LimitNOFILE", "1024:infinity")
	f.Fuzz(func(t *testing.T, name, property, value string) {
		target := plan.Target{Kind: "unit", Unit: name, Name: property}
		if (unit{}).Valid(target, value) != nil {
			return
		}
		p, _ := unitPropertyOf(property)
		v, err := p.parse(value)
		if err != nil {
			t.Fatal(err)
		}
		word, err := p.word(v...)
		if err != nil || !(unit{}).Same(target, word, value) {
			t.Errorf("%s: %q is written as %q (%v)", target, value, word, err)
		}
		if strings.ContainsAny(p.file(target, value)[len("# by snag tune, until the next boot\n["):], "\"'$`") || strings.Count(p.file(target, value), "\n") > 4 || strings.ContainsAny(name, "/\n") {
			t.Errorf("%q", p.file(target, value))
		}
	})
}
