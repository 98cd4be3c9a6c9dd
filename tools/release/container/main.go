// Command container makes the OCI configuration of a container from the DaemonSet of snag, as kubelet and a runtime
// would: with the namespaces, capabilities, mounts and read-only root that the manifest asks for, the masked paths of
// Docker and its default seccomp profile. runc.sh runs the image with it.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "container:", err)
		os.Exit(1)
	}
}

func run() error {
	manifest := flag.String("manifest", "packaging/kubernetes/snag-record.yaml", "the DaemonSet")
	root := flag.String("root", "", "the unpacked image")
	volumes := flag.String("volumes", "", "where the volumes of the manifest are folders of their names; a hostPath of type Directory is the host's own")
	ownPIDs := flag.Bool("own-pids", false, "a PID namespace of its own, although the manifest asks for the host's")
	flag.Parse()
	if *root == "" || *volumes == "" {
		return errors.New("usage: container -root FOLDER -volumes FOLDER [-manifest FILE] [-own-pids] [ARGUMENTS OF SNAG]")
	}
	text, err := os.ReadFile(*manifest)
	if err != nil {
		return err
	}
	set, err := parse(text)
	if err != nil {
		return fmt.Errorf("read %s: %w", *manifest, err)
	}
	spec, err := configuration(set.Spec.Template.Spec, *root, *volumes, flag.Args())
	if err != nil {
		return err
	}
	if *ownPIDs {
		separate(spec)
	}
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", " ")
	return out.Encode(spec)
}
