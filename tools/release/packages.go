package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // it registers itself
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm" // it registers itself
)

const (
	maintainer = "The snag maintainers <maintainers@users.noreply.a-seed-3e942ff8.example>"
	summary    = "find what a stream or a request is caught on"
	// about has lines of at most 78 characters: dpkg shows them as they are.
	about = `snag watches a Linux host for half a minute and names what a stream or a
request waits for: the socket, the process, the queue, the setting. It gives
evidence for and against, lists what it ruled out and what it could not see,
and proposes the change that helps.

The package has the units of the flight recorder, snag-record.service, and
of its page, snag-serve.service. The installation enables none of them:
systemctl enable --now snag-record snag-serve`
)

// packages writes a .deb and an .rpm. nfpm reads files, so all are put into the folder work first.
func (r *release) packages(all []file, arch, out, work string) error {
	for _, format := range []string{"deb", "rpm"} {
		info := r.info(arch)
		switch format {
		case "deb": // of dpkg the first line is the summary, and a dot is an empty line
			info.Description = summary + "\n" + strings.ReplaceAll(about, "\n\n", "\n.\n")
		case "rpm":
			info.Description, info.License = about, "Apache-2.0"
			// rpm removes only folders that a package says it owns; in a .deb all folders are.
			for _, dir := range []string{"/usr/share/doc/snag", "/usr/share/snag", "/usr/share/snag/grafana", "/usr/share/snag/prometheus", "/usr/share/zsh", "/usr/share/zsh/site-functions"} {
				info.Contents = append(info.Contents, &files.Content{Destination: dir, Type: files.TypeDir,
					FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: 0o755, MTime: r.Date}})
			}
		}
		for _, f := range all {
			if f.Only != "" && f.Only != format {
				continue
			}
			from := filepath.Join(work, f.Path)
			if err := os.MkdirAll(filepath.Dir(from), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(from, f.Body, 0o600); err != nil {
				return err
			}
			info.Contents = append(info.Contents, &files.Content{Source: from, Destination: f.Path, Type: files.TypeFile,
				FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: f.Mode, MTime: r.Date}})
		}
		if err := r.pack(info, format, out); err != nil {
			return fmt.Errorf("make the .%s of %s: %w", format, arch, err)
		}
	}
	return nil
}

func (r *release) info(arch string) *nfpm.Info {
	scripts := filepath.Join(r.Root, "packaging/scripts")
	return nfpm.WithDefaults(&nfpm.Info{
		Name: "snag", Arch: arch, Platform: "linux", Version: r.Version, MTime: r.Date,
		Section: "admin", Priority: "optional", Maintainer: maintainer,
		DisableGlobbing: true,
		Overridables: nfpm.Overridables{
			Suggests: []string{"ffmpeg"}, // ffprobe: streams that snag has no reader for
			Scripts: nfpm.Scripts{
				PostInstall: filepath.Join(scripts, "postinst"), PreRemove: filepath.Join(scripts, "prerm"), PostRemove: filepath.Join(scripts, "postrm"),
			},
			RPM: nfpm.RPM{BuildHost: "snag", Summary: summary, Group: "Applications/System", Compression: "gzip:9"},
			Deb: nfpm.Deb{Compression: "gzip:9"},
		},
	})
}

func (r *release) pack(info *nfpm.Info, format, out string) error {
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	info.Target = filepath.Join(out, packager.ConventionalFileName(info))
	f, err := os.Create(info.Target)
	if err != nil {
		return err
	}
	err = packager.Package(info, f)
	if c := f.Close(); err == nil {
		err = c
	}
	return err
}
