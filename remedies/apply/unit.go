package apply

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/godbus/dbus/v5"
)

// unitExec is ExecStart as D-Bus has it (org.freedesktop.systemd1(5)): the program, its
// arguments, and whether it may fail unseen.
type unitExec struct {
	Path   string
	Args   []string
	Ignore bool
}

// unitProperty is one of StartTransientUnit's.
type unitProperty struct {
	Name  string
	Value dbus.Variant
}

// guardUnit names the unit that waits for a plan.
func guardUnit(dir string) string { return "snag-tune-" + filepath.Base(dir) + ".service" }

// systemdAnswers is how long a call to systemd may take: one that hangs must not hang us.
const systemdAnswers = 10 * time.Second

// ArmUnit has a transient unit of systemd's wait. It outlives the session even where
// logind ends all processes of one (KillUserProcesses=), and is started again when it is
// killed; it has to do with no terminal. The argv begins with snag's own program.
func ArmUnit(conn *dbus.Conn, dir string, argv []string) (string, error) {
	name := guardUnit(dir)
	properties := []unitProperty{
		{"Description", dbus.MakeVariant("undoes snag's plan " + filepath.Base(dir) + " unless it is confirmed")},
		{"Type", dbus.MakeVariant("exec")},
		{"ExecStart", dbus.MakeVariant([]unitExec{{argv[0], argv, false}})},
		{"Restart", dbus.MakeVariant("on-failure")},
		{"RestartUSec", dbus.MakeVariant(uint64(200_000))},
		{"CollectMode", dbus.MakeVariant("inactive-or-failed")},
		{"WorkingDirectory", dbus.MakeVariant("/")},
		// Nothing may hold it up, or make it the one that runs out of memory.
		{"OOMScoreAdjust", dbus.MakeVariant(int32(-900))},
	}
	manager := conn.Object("org.freedesktop.systemd1", "/org/freedesktop/systemd1")
	var job dbus.ObjectPath
	ctx, cancel := context.WithTimeout(context.Background(), systemdAnswers)
	defer cancel()
	err := manager.CallWithContext(ctx, "org.freedesktop.systemd1.Manager.StartTransientUnit", 0, name, "fail", properties,
		[]struct {
			Name       string
			Properties []unitProperty
		}{}).Store(&job)
	if err != nil {
		return "", fmt.Errorf("start the unit %s that undoes all: systemd says: %w", name, err)
	}
	// Its lock reports that it waits.
	e := Entry{Dir: dir}
	for end := time.Now().Add(systemdAnswers); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if e.Guarded() {
			return "unit " + name, nil
		}
	}
	_ = manager.Call("org.freedesktop.systemd1.Manager.StopUnit", dbus.FlagNoReplyExpected, name, "replace").Err
	return "", fmt.Errorf("start the unit %s that undoes all: it did not wait within 10 s: journalctl -u %s", name, name)
}
