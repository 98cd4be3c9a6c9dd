package knob

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"

	"snag/remedies/plan"
)

// unit sets a property of a systemd unit, as org.freedesktop.systemd1(5) has it. What a
// running unit takes is set by SetUnitProperties, for this boot; what it reads when it
// is started is written into a drop-in below /run, and systemd reads that at once.
// snag restarts nothing.
type unit struct{}

// unitTypes are the types of units that have such properties, with their interface.
var unitTypes = map[string]string{
	".service": "Service", ".slice": "Slice", ".scope": "Scope", ".socket": "Socket", ".mount": "Mount", ".swap": "Swap",
}

func (unit) Valid(t plan.Target, value string) error {
	kind, err := unitType(t.Unit)
	if err != nil {
		return err
	}
	p, ok := unitPropertyOf(t.Name)
	switch {
	case !ok:
		return fmt.Errorf("%q is not a property of a unit that snag sets", t.Name)
	case !p.live && (kind == "Slice" || kind == "Scope"):
		return fmt.Errorf("%s has no %s: nothing is started by it", t.Unit, t.Name)
	}
	_, err = p.parse(value)
	return err
}

// unitType is the interface of a unit's type. Its name may have what systemd.unit(5)
// allows, and no more: it becomes the name of a folder.
func unitType(name string) (string, error) {
	kind, ok := unitTypes[filepath.Ext(name)]
	rest := strings.TrimSuffix(name, filepath.Ext(name))
	if !ok || rest == "" || len(name) > 255 || strings.HasPrefix(rest, ".") || strings.Contains(rest, "..") ||
		strings.Trim(rest, `abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:-_.\@`) != "" {
		return "", fmt.Errorf("%q is not a unit that snag sets: it is a service, slice, scope, socket, mount or swap, as nginx.service", name)
	}
	return kind, nil
}

// parse reads a value as D-Bus sends it; of limits the soft one comes first.
func (p *unitProperty) parse(value string) ([]any, error) {
	var out []any
	var err error
	switch p.form {
	case countForm:
		var n uint64
		n, err = parseNumber(value, p.least, p.most)
		if value == unset && strings.HasSuffix(p.Name, "Weight") {
			n, err = math.MaxUint64, nil
		}
		out = []any{n}
	case percentForm:
		var n uint64
		n, err = parsePercent(value)
		out = []any{n}
	case limitsForm:
		var soft, hard uint64
		soft, hard, err = parseLimits(value)
		out = []any{soft, hard}
	case setForm:
		var set []byte
		set, err = parseSet(value)
		out = []any{set}
	case policyForm:
		var n int32
		n, err = parsePolicy(value)
		out = []any{n}
	}
	if err != nil {
		return nil, fmt.Errorf("%s is %w", p.Name, err)
	}
	return out, nil
}

// word writes what D-Bus sent.
func (p *unitProperty) word(v ...any) (string, error) {
	switch n := v[0].(type) {
	case uint64:
		switch {
		case p.form == limitsForm:
			hard, ok := v[1].(uint64)
			if !ok {
				return "", fmt.Errorf("systemd sent %s as %T", p.property, v[1])
			}
			return limitsWord(n, hard), nil
		case p.form == percentForm:
			return percentWord(n), nil
		case strings.HasSuffix(p.Name, "Weight") && n == math.MaxUint64:
			return unset, nil
		}
		return numberWord(n), nil
	case []byte:
		return setWord(n), nil
	case int32:
		return policyWord(n), nil
	}
	return "", fmt.Errorf("systemd sent %s as %T", p.property, v[0])
}

// systemd's names on D-Bus.
const (
	systemdName    = "org.freedesktop.systemd1"
	systemdManager = systemdName + ".Manager"
)

// withUnit finds a unit. A unit that is not loaded is loaded by that; one that no file
// has is absent.
func (h Host) withUnit(t plan.Target, f func(conn *dbus.Conn, object dbus.BusObject) error) error {
	dial := h.systemd
	if dial == nil {
		dial = DialSystemd
	}
	conn, err := dial()
	if err != nil {
		return fmt.Errorf("find %s: %w", t, err)
	}
	defer func() { _ = conn.Close() }()
	defer time.AfterFunc(30*time.Second, func() { _ = conn.Close() }).Stop() // a systemd that hangs must not hang us
	var path dbus.ObjectPath
	if err := manager(conn).Call(systemdManager+".LoadUnit", 0, t.Unit).Store(&path); err != nil {
		return fmt.Errorf("find %s: systemd says: %w", t, err)
	}
	object := conn.Object(systemdName, path)
	state, err := object.GetProperty(systemdName + ".Unit.LoadState")
	if err != nil {
		return fmt.Errorf("find %s: systemd says: %w", t, err)
	}
	if state.Value() != "loaded" {
		return fmt.Errorf("find %s: systemd has no such unit (%v) (%w)", t, state.Value(), ErrAbsent)
	}
	return f(conn, object)
}

func manager(conn *dbus.Conn) dbus.BusObject {
	return conn.Object(systemdName, "/org/freedesktop/systemd1")
}

// DialSystemd talks to systemd by its own socket, which root may use and which needs no
// bus, else by the system's bus.
func DialSystemd() (*dbus.Conn, error) {
	if _, err := os.Stat("/run/systemd/system"); err != nil { // sd_booted(3)
		return nil, fmt.Errorf("systemd does not run this host (%w)", ErrAbsent)
	}
	if conn, err := dialPrivate("/run/systemd/private"); err == nil {
		return conn, nil
	}
	conn, err := dbus.ConnectSystemBus()
	if err != nil {
		return nil, fmt.Errorf("connect to systemd: %w (run as root, on the host itself)", err)
	}
	return conn, nil
}

// dialPrivate talks to systemd without a bus.
func dialPrivate(socket string) (*dbus.Conn, error) {
	conn, err := dbus.Dial("unix:path=" + socket)
	if err != nil {
		return nil, err
	}
	if err = conn.Auth(nil); err == nil {
		err = awake(conn)
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// awake asks until systemd answers once. What comes in one packet with the end of the
// greeting it only sees when more comes (sd-bus, bus_socket_read_auth): the first
// call would wait for ever.
func awake(conn *dbus.Conn) (err error) {
	for range 50 {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		err = manager(conn).CallWithContext(ctx, "org.freedesktop.DBus.Peer.Ping", 0).Err
		cancel()
		if err == nil {
			return nil
		}
	}
	return err
}

func (unit) Read(h Host, t plan.Target) (value string, err error) {
	p, ok := unitPropertyOf(t.Name)
	if !ok {
		return "", fmt.Errorf("read %s: %w", t, ErrAbsent)
	}
	err = h.withUnit(t, func(_ *dbus.Conn, object dbus.BusObject) error {
		value, err = p.get(t, object)
		return err
	})
	return value, err
}

func (p *unitProperty) get(t plan.Target, object dbus.BusObject) (string, error) {
	kind, err := unitType(t.Unit)
	if err != nil {
		return "", err
	}
	names := []string{p.property}
	if p.form == limitsForm {
		names = []string{p.property + "Soft", p.property}
	}
	var values []any
	for _, name := range names {
		v, err := object.GetProperty(systemdName + "." + kind + "." + name)
		if err != nil {
			return "", fmt.Errorf("read %s: systemd says: %w", t, err)
		}
		values = append(values, v.Value())
	}
	value, err := p.word(values...)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", t, err)
	}
	return value, nil
}

func (k unit) Write(h Host, t plan.Target, value string) error {
	if err := k.Valid(t, value); err != nil {
		return err
	}
	p, _ := unitPropertyOf(t.Name)
	values, err := p.parse(value)
	if err != nil {
		return err
	}
	return h.withUnit(t, func(conn *dbus.Conn, object dbus.BusObject) error {
		if !p.live {
			return h.dropIn(conn, object, t, p, value)
		}
		properties := []struct {
			Name  string
			Value dbus.Variant
		}{{p.property, dbus.MakeVariant(values[0])}}
		// true: for this boot only.
		if err := manager(conn).Call(systemdManager+".SetUnitProperties", 0, t.Unit, true, properties).Err; err != nil {
			return fmt.Errorf("set %s to %s: systemd says: %w", t, value, err)
		}
		return nil
	})
}

// dropIn writes a file below /run that systemd reads. Where the value is what the unit
// has without it, no file of ours stays.
func (h Host) dropIn(conn *dbus.Conn, object dbus.BusObject, t plan.Target, p *unitProperty, value string) error {
	run := h.run
	if run == "" {
		run = "/run"
	}
	dir := filepath.Join(run, "systemd/system", t.Unit+".d")
	path := filepath.Join(dir, "50-snag-"+p.Name+".conf")
	reload := func() error {
		if err := manager(conn).Call(systemdManager+".Reload", 0).Err; err != nil {
			return fmt.Errorf("set %s: have systemd read its units again: %w", t, err)
		}
		return nil
	}
	switch err := os.Remove(path); {
	case err == nil:
		_ = os.Remove(dir) // only where nothing else is in it
		if err := reload(); err != nil {
			return err
		}
	case !errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("remove %s: %w", path, errors.Unwrap(err))
	}
	if now, err := p.get(t, object); err != nil || (unit{}).Same(t, now, value) {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make %s: %w", dir, errors.Unwrap(err))
	}
	if err := os.WriteFile(path, []byte(p.file(t, value)), 0o644); err != nil {
		return fmt.Errorf("write %s: %w", path, errors.Unwrap(err))
	}
	return reload()
}

// file is the drop-in's text. The empty line before takes back what other files said:
// sets add up otherwise (systemd.exec(5)).
func (p *unitProperty) file(t plan.Target, value string) string {
	kind, _ := unitType(t.Unit)
	lines := []string{"# by snag tune, until the next boot", "[" + kind + "]"}
	if p.form == setForm || p.form == policyForm {
		lines = append(lines, p.Name+"=")
	}
	if value != unset {
		lines = append(lines, p.Name+"="+value)
	}
	return strings.Join(lines, "\n") + "\n"
}

// Same compares as systemd has it: 65536 and 65536:65536 are one, and so are 0,1 and 0-1.
func (unit) Same(t plan.Target, a, b string) bool {
	p, ok := unitPropertyOf(t.Name)
	if !ok {
		return false
	}
	x, err1 := p.parse(a)
	y, err2 := p.parse(b)
	if err1 != nil || err2 != nil {
		return false
	}
	return slices.EqualFunc(x, y, func(i, j any) bool {
		if set, ok := i.([]byte); ok {
			return setWord(set) == setWord(j.([]byte))
		}
		return i == j
	})
}
