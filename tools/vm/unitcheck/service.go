package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// piece is a file of the ring: when it begins and ends; open ones have no end.
type piece struct{ start, end time.Time }

const stamp = "20060102T150405.000Z"

// pieces reads a listing of the ring, by time.
func pieces(listing string) (out []piece) {
	for _, name := range strings.Fields(listing) {
		parts := strings.Split(name, "-")
		start, err := time.Parse(stamp, parts[0])
		if err != nil || len(parts) < 2 {
			continue
		}
		end, _ := time.Parse(stamp, parts[1]) // zero: it is open
		out = append(out, piece{start, end})
	}
	slices.SortFunc(out, func(a, b piece) int { return a.start.Compare(b.start) })
	return out
}

// lostAt is how much of the time before a moment is in no piece, s: from the end of the last
// packed piece that began before it.
func lostAt(listing string, at time.Time) (float64, error) {
	for _, p := range slices.Backward(pieces(listing)) {
		if p.start.Before(at) && !p.end.IsZero() {
			return at.Sub(p.end).Seconds(), nil
		}
	}
	return 0, fmt.Errorf("no packed piece before %s: %s", at.Format(time.TimeOnly), listing)
}

// killed are the claims about kill -9.
func killed(l life) []check {
	return []check{
		{"after kill -9 systemd restarts it", func() (string, error) {
			return "NRestarts " + l.text("killed-restarts"), errors.Join(l.exit("restarts", 0), l.exit("records-again", 0))
		}},
		{"of the time before kill -9 at most a second is lost", func() (string, error) {
			at, err := l.moment("killed")
			if err != nil {
				return "", err
			}
			lost, err := lostAt(l.text("killed-ring"), at)
			if err == nil && lost > 1 {
				err = fmt.Errorf("%.3f s are lost", lost)
			}
			return fmt.Sprintf("%.3f s lost", lost), err
		}},
	}
}

// full are the claims about a full disk.
func full(l life) []check {
	return []check{{"on a full disk it pauses, and continues when there is space", func() (string, error) {
		err := errors.Join(l.exit("full-start", 0), l.exit("full-records", 0), l.exit("full-pauses", 0), l.exit("full-runs", 0), l.exit("full-continues", 0), l.exit("full-records-again", 0), l.exit("full-stop", 0))
		return line(l.text("journal"), "recording is paused"), err
	}}}
}

// stopWithin is systemd's own limit, DefaultTimeoutStopSec=, after which it kills.
const stopWithin = 90 * time.Second

// ordered are the claims about orders of systemctl.
func ordered(l life) []check {
	return []check{
		{"systemctl reload is refused, as the unit has none, and it runs on", func() (string, error) {
			return l.text("reload.err"), errors.Join(l.exit("reload", 3), l.exit("reload-runs", 0))
		}},
		{"systemctl restart", func() (string, error) {
			text, err := lasted(l, "restart-from", "restart-to")
			return text, errors.Join(err, l.exit("restart", 0), l.exit("restart-records", 0))
		}},
		{"systemctl stop ends it with status 0", func() (string, error) {
			text, err := lasted(l, "stop-from", "stop-to")
			err = errors.Join(err, l.exit("stop", 0), differ(settings(l.text("stopped")), map[string]string{"Result": "success", "ExecMainStatus": "0", "ExecMainCode": "1", "ActiveState": "inactive"}))
			if strings.Contains(l.text("stopped-ring"), "-open") {
				err = errors.Join(err, fmt.Errorf("a piece is left open: %s", l.text("stopped-ring")))
			}
			return text, err
		}},
		{"of the time before the stop at most a second is lost", func() (string, error) {
			at, err := l.moment("stop-from")
			if err != nil {
				return "", err
			}
			lost, err := lostAt(l.text("stopped-ring"), at)
			if err == nil && lost > 1 {
				err = fmt.Errorf("%.3f s are lost", lost)
			}
			return fmt.Sprintf("the last piece ends %.3f s after the order", -lost), err
		}},
	}
}

// lasted is the time between two moments; an error from systemd's limit on.
func lasted(l life, from, to string) (string, error) {
	a, err := l.moment(from)
	b, err2 := l.moment(to)
	if err := errors.Join(err, err2); err != nil {
		return "", err
	}
	d := b.Sub(a).Round(10 * time.Millisecond)
	if d >= stopWithin {
		return "", fmt.Errorf("it took %s", d)
	}
	return fmt.Sprintf("in %s", d), nil
}

// rebooted are the claims about a second boot from the same disk.
func rebooted(before, l life) []check {
	return []check{
		{"a reboot stops it cleanly", func() (string, error) {
			text := l.text("before")
			if !strings.Contains(text, "Deactivated successfully") || strings.Contains(text, "Failed with result 'timeout'") {
				return "", fmt.Errorf("the journal of the boot before: %s", tail(text))
			}
			return "Deactivated successfully", l.exit("before", 0)
		}},
		{"after a reboot it runs without being started", func() (string, error) {
			err := errors.Join(l.exit("runs", 0), l.exit("records", 0))
			if failed := l.text("failed"); failed != "" {
				err = errors.Join(err, fmt.Errorf("units failed: %s", failed))
			}
			return "active", err
		}},
		{"the ring has the pieces of before, and continues", func() (string, error) {
			old, now := pieces(before.text("last-ring")), pieces(l.text("ring"))
			if len(old) == 0 || len(now) < len(old)+1 || !now[0].start.Equal(old[0].start) {
				return "", fmt.Errorf("%d pieces before, %d now", len(old), len(now))
			}
			return fmt.Sprintf("%d pieces before, %d now", len(old), len(now)), nil
		}},
		{"find --last 20s after the reboot", func() (string, error) { return answers(l, "last") }},
		{"find over the reboot names the gap", func() (string, error) { return gap(l, "across") }},
		{"the incidents are still there", func() (string, error) {
			return lostDatagrams(l.text("incidents"))
		}},
	}
}
