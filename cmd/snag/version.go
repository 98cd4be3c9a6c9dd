package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/internal/kernel"
	"snag/internal/shown"
)

// build is what snag version --json writes.
type build struct {
	Version  string           `json:"version"`
	Commit   *string          `json:"commit"` // null: the build did not say
	Date     *string          `json:"date"`   // of the commit, RFC 3339, UTC
	Go       string           `json:"go"`
	Platform string           `json:"platform"` // linux/amd64
	Kernel   string           `json:"kernel"`   // its release, as uname -r; "" where it could not be read
	Features []kernel.Feature `json:"features"`
}

func versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, its commit, and which features of this host's kernel snag can use",
		Long: `Prints the version, the commit and its date, and which features of this host's kernel snag
can use. It works without root, and says then what it could not ask. As root it loads a BPF
program of two instructions, and removes it, to see whether the kernel permits that.`,
		Example: `  sudo snag version`,
		Args:    cli.UsageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := thisBuild("/proc", "/sys")
			if asJSON {
				enc := json.NewEncoder(shown.JSON(os.Stdout))
				enc.SetIndent("", "  ")
				return enc.Encode(b)
			}
			return writeVersion(cmd.OutOrStdout(), b)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON (docs/json.md)")
	return cmd
}

func thisBuild(proc, sys string) build {
	release, _ := os.ReadFile(proc + "/sys/kernel/osrelease")
	return build{
		Version: cli.Version, Commit: known(cli.Commit), Date: known(cli.Date), Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH, Kernel: string(bytes.TrimSpace(release)), Features: kernel.Features(proc, sys),
	}
}

func known(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func writeVersion(w io.Writer, b build) error {
	var out strings.Builder
	or := func(text *string) string {
		if text == nil {
			return "unknown: this build did not record it"
		}
		return *text
	}
	fmt.Fprintf(&out, "snag     %s\ncommit   %s\ndate     %s\ngo       %s %s\nkernel   %s\n\nkernel features\n",
		b.Version, or(b.Commit), or(b.Date), b.Go, b.Platform, b.Kernel)
	asked := true
	for _, f := range b.Features {
		fmt.Fprintf(&out, "  %-8s %-33s %s\n", f.Answer, f.Name, f.For)
		if f.Why != "" {
			fmt.Fprintf(&out, "           %s\n", f.Why)
		}
		if f.Cure != "" {
			fmt.Fprintf(&out, "           cure: %s\n", f.Cure)
		}
		asked = asked && f.Answer != kernel.Unknown
	}
	if !asked && os.Geteuid() != 0 {
		out.WriteString("\nWhat is unknown needs privileges: sudo snag version\n")
	}
	_, err := io.WriteString(w, out.String())
	return err
}
