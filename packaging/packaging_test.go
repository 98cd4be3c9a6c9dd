// Package packaging tests what the packages run on a host: scripts of a shell, as nothing of snag is there any more.
package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"snag/remedies/journal"
	"snag/remedies/plan"
)

const thisBoot = "" // stands for the id of the boot that the test runs in

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// planOf writes a plan's folder with a journal of these steps, as snag tune writes it.
func planOf(t *testing.T, root, id, boot string, steps ...journal.Step) {
	t.Helper()
	dir := filepath.Join(root, "var/lib/snag/tune", id)
	write(t, filepath.Join(dir, "plan.yaml"))
	if boot == thisBoot {
		b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
		if err != nil {
			t.Fatal(err)
		}
		boot = strings.TrimSpace(string(b))
	}
	j, err := journal.Create(dir, 1<<16)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		r := journal.Record{Step: s}
		switch s {
		case journal.Begun:
			r.Boot = boot
		case journal.Will:
			// A value that looks like a step is none.
			r.Change, r.Target, r.Old = "1", &plan.Target{Kind: "sysctl", Name: "net.core.somaxconn"}, `"step":"undone"`
		case journal.Persisted:
			r.File = "/etc/sysctl.d/90-snag-x.conf"
		}
		if err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

func postrm(t *testing.T, root, what string) string {
	t.Helper()
	cmd := exec.Command("sh", "scripts/postrm", what)
	cmd.Env = append(os.Environ(), "DPKG_ROOT="+root)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("postrm %s: %v\n%s", what, err, out)
	}
	return string(out)
}

// What a plan changed and nobody took back survives a purge, with all its old values; all else of snag's goes.
func TestPurgeKeepsJournalsInEffect(t *testing.T) {
	applied := []journal.Step{journal.Begun, journal.Armed, journal.Will, journal.Did, journal.Applied}
	with := func(more ...journal.Step) []journal.Step {
		return append(append([]journal.Step{}, applied...), more...)
	}
	for _, c := range []struct {
		name  string
		boot  string
		steps []journal.Step
		kept  bool
	}{
		{"waits for confirm", thisBoot, applied, true},
		{"confirmed", thisBoot, with(journal.Confirmed), true},
		{"confirmed and verified", thisBoot, with(journal.Confirmed, journal.Verified), true},
		{"half made", thisBoot, applied[:3], true},
		{"half undone", thisBoot, with(journal.Undoing, journal.Undid), true},
		{"not undone", thisBoot, with(journal.Undoing, journal.NotUndone), true},
		{"persisted, in an earlier boot", "b-1", with(journal.Confirmed, journal.WillPersist, journal.Persisted), true},
		{"no record that can be read", thisBoot, nil, true},
		{"undone", thisBoot, with(journal.Undoing, journal.Undid, journal.Undone), false},
		{"undone and verified", thisBoot, with(journal.Undoing, journal.Undid, journal.Undone, journal.Verified), false},
		{"persisted and undone", "b-1", with(journal.Confirmed, journal.Persisted, journal.Undoing, journal.Removed, journal.Undone), false},
		{"confirmed in an earlier boot", "b-1", with(journal.Confirmed), false},
		{"begun, nothing made", thisBoot, applied[:2], false},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			state := filepath.Join(root, "var/lib/snag")
			planOf(t, root, "20261129-100000.000000", c.boot, c.steps...)
			planOf(t, root, "20261128-100000.000000", thisBoot, journal.Begun, journal.Undone)
			write(t, state+"/ring/a.snag")
			write(t, state+"/baselines/before/facts")
			write(t, root+"/run/snag-tune/lock")
			write(t, root+"/var/lib/other/file")
			write(t, root+"/etc/systemd/system/snag-record.service.d/override.conf")

			removed := postrm(t, root, "remove")
			if _, err := os.Stat(state + "/ring/a.snag"); err != nil {
				t.Errorf("a removal without a purge: %v", err)
			}
			purged := postrm(t, root, "purge")
			for _, out := range []string{removed, purged} {
				if strings.Contains(out, "snag tune undo 20261129-100000.000000") != c.kept || strings.Contains(out, "20261128") {
					t.Errorf("it says %q", out)
				}
			}
			_, err := os.Stat(state + "/tune/20261129-100000.000000/journal.jsonl")
			if (err == nil) != c.kept {
				t.Errorf("the journal: %v", err)
			}
			if _, err := os.Stat(state); (err == nil) != c.kept {
				t.Errorf("%s: %v", state, err)
			}
			if exists(root+"/run/snag-tune/lock") != c.kept {
				t.Error("the lock of journals stays as long as they do")
			}
			for _, gone := range []string{"ring", "baselines"} {
				if _, err := os.Stat(filepath.Join(state, gone)); err == nil {
					t.Errorf("%s is left", gone)
				}
			}
			for _, stays := range []string{"/var/lib/other/file", "/etc/systemd/system/snag-record.service.d/override.conf"} {
				if _, err := os.Stat(root + stays); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// An upgrade and its taking back run the same scripts, and must leave all as it is.
func TestUpgradeLeavesTheState(t *testing.T) {
	root := t.TempDir()
	write(t, root+"/var/lib/snag/ring/a.snag")
	const wants = "/etc/systemd/system/multi-user.target.wants/"
	write(t, root+wants+"snag-record.service")
	write(t, root+wants+"snag-serve.service")
	for _, what := range []string{"upgrade", "failed-upgrade", "abort-install", "abort-upgrade", "disappear", "1"} {
		if out := postrm(t, root, what); out != "" {
			t.Errorf("postrm %s says %q", what, out)
		}
	}
	for _, path := range []string{"/var/lib/snag/ring/a.snag", "/etc/systemd/system/multi-user.target.wants/snag-record.service"} {
		if _, err := os.Stat(root + path); err != nil {
			t.Error(err)
		}
	}
	if postrm(t, root, "remove"); exists(root+wants+"snag-record.service") || exists(root+wants+"snag-serve.service") {
		t.Error("a removal leaves a unit enabled")
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
