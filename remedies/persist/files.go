package persist

import (
	"fmt"
	"path/filepath"
	"strings"

	"snag/remedies/export"
)

// Formats are those whose files a host reads by itself at a boot.
var Formats = []string{"unit", "sysctl.d", "networkd"}

// FilesOf are the files of an export, and the links by which systemd starts its units:
// what systemctl enable makes.
func FilesOf(r export.Result) ([]File, error) {
	var all []File
	for _, f := range r.Files {
		if !strings.HasPrefix(f.Path, "/etc/") {
			return nil, fmt.Errorf("%s is not a file that a host reads at a boot", f.Path)
		}
		all = append(all, File{Path: f.Path, Text: f.Text})
	}
	for _, unit := range r.Start {
		const dir = "/etc/systemd/system/"
		wants, file := "multi-user.target", unit
		if name, instance, ok := strings.Cut(strings.TrimSuffix(unit, ".service"), "@"); ok {
			wants, file = "sys-subsystem-net-devices-"+instance+".device", name+"@.service"
		}
		all = append(all, File{Path: filepath.Join(dir, wants+".wants", unit), Link: dir + file})
	}
	return all, nil
}
