package apply

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"snag/internal/systemdtest"
)

// ownBus starts a message bus of the test's own.
func ownBus(t *testing.T) (connect func() *dbus.Conn) {
	t.Helper()
	dial := systemdtest.Bus(t)
	return func() *dbus.Conn {
		conn, err := dial()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
}

// starter is systemd's manager as org.freedesktop.systemd1(5) describes it, as far as
// transient units go: it takes what the guard's unit is made of, and runs it.
type starter struct {
	name, mode string
	got        map[string]dbus.Variant
	run        func(unitExec)
	stopped    chan string
}

func (s *starter) StartTransientUnit(name, mode string, properties []unitProperty, aux []struct {
	Name       string
	Properties []unitProperty
}) (dbus.ObjectPath, *dbus.Error) {
	if len(aux) != 0 {
		return "", dbus.MakeFailedError(fmt.Errorf("auxiliary units: %v", aux))
	}
	s.name, s.mode, s.got = name, mode, map[string]dbus.Variant{}
	for _, p := range properties {
		s.got[p.Name] = p.Value
	}
	var execs []unitExec
	if err := s.got["ExecStart"].Store(&execs); err != nil {
		return "", dbus.MakeFailedError(err)
	}
	if len(execs) != 1 {
		return "", dbus.MakeFailedError(fmt.Errorf("%d ExecStart", len(execs)))
	}
	if s.run != nil {
		s.run(execs[0])
	}
	return "/org/freedesktop/systemd1/job/1", nil
}

func (s *starter) StopUnit(name, mode string) (dbus.ObjectPath, *dbus.Error) {
	s.stopped <- name + " " + mode
	return "/org/freedesktop/systemd1/job/2", nil
}

func (s *starter) serve(t *testing.T, conn *dbus.Conn) {
	t.Helper()
	err := conn.Export(s, "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.RequestName("org.freedesktop.systemd1", dbus.NameFlagDoNotQueue); err != nil {
		t.Fatal(err)
	}
}

func TestAUnitWaits(t *testing.T) {
	connect := ownBus(t)
	dir := filepath.Join(t.TempDir(), "20261122-000834.498377")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var ran unitExec
	s := &starter{run: func(e unitExec) {
		ran = e
		time.AfterFunc(50*time.Millisecond, func() { // Type=exec: it is told of before it waits
			release, err := hold(dir, guardFile)
			if err != nil {
				t.Error(err)
			}
			t.Cleanup(release)
		})
	}}
	s.serve(t, connect())
	who, err := ArmUnit(connect(), dir, []string{"/usr/bin/snag", "tune", "guard", dir})
	if err != nil || who != "unit snag-tune-20261122-000834.498377.service" {
		t.Fatalf("%q, %v", who, err)
	}
	if s.name != "snag-tune-20261122-000834.498377.service" || s.mode != "fail" || ran.Path != "/usr/bin/snag" || strings.Join(ran.Args, " ") != "/usr/bin/snag tune guard "+dir || ran.Ignore {
		t.Errorf("%s %s %+v", s.name, s.mode, ran)
	}
	for name, want := range map[string]any{"Type": "exec", "Restart": "on-failure", "CollectMode": "inactive-or-failed", "RestartUSec": uint64(200_000), "OOMScoreAdjust": int32(-900)} {
		if got := s.got[name].Value(); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

func TestAUnitThatIsRefused(t *testing.T) {
	connect := ownBus(t)
	if _, err := ArmUnit(connect(), t.TempDir(), []string{"/usr/bin/snag"}); err == nil || !strings.Contains(err.Error(), "systemd says") {
		t.Error(err) // nobody has that name on the bus
	}
}
