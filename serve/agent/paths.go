package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// absolute is a path that a client names. Relative ones, - among them, are files of the working directory.
func absolute(name string) (string, error) {
	if name == "" || strings.ContainsRune(name, 0) {
		return "", fmt.Errorf("%q is not a file path", name)
	}
	path, err := filepath.Abs(name)
	if err != nil {
		return "", fmt.Errorf("%q: %w: give an absolute path", name, err)
	}
	return path, checked(path)
}

// checked refuses what is no file that somebody wrote: reading a pipe may wait for ever, and reading /proc/kmsg takes
// from others what they wait for. What is not there is left to the command, which says so.
func checked(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	for _, dir := range []string{"/proc/", "/sys/", "/dev/"} {
		if strings.HasPrefix(real+"/", dir) && !strings.HasPrefix(real, "/dev/shm/") {
			return fmt.Errorf("%s: files of the kernel and devices are not read: copy what is in it to a file", path)
		}
	}
	if st, err := os.Stat(real); err == nil && !st.IsDir() && !st.Mode().IsRegular() {
		return fmt.Errorf("%s is neither a file nor a folder", path)
	}
	return nil
}

// manifestFile is in each folder of a recording (docs/recording.md).
const manifestFile = "manifest.json"

// recordingAt is a path of a recording. A folder that is none is refused before root copies it (privileges.go).
func recordingAt(name string) (string, error) {
	path, err := absolute(name)
	if err != nil {
		return "", err
	}
	st, err := os.Stat(path)
	if err != nil || !st.IsDir() {
		return path, nil //nolint:nilerr // the command says what is wrong with it
	}
	if _, err := os.Stat(filepath.Join(path, manifestFile)); err != nil {
		return "", fmt.Errorf("%s is not a snag recording: it has no %s", path, manifestFile)
	}
	return path, nil
}

// filesAt are the files that names and patterns stand for.
func filesAt(names []string) (all []string, err error) {
	for _, name := range names {
		path, err := absolute(name)
		if err != nil {
			return nil, err
		}
		matches := []string{path}
		if _, err := os.Lstat(path); err != nil && strings.ContainsAny(path, "*?[") {
			if matches, err = filepath.Glob(path); err != nil || len(matches) == 0 {
				return nil, fmt.Errorf("no file matches %s", path)
			}
		}
		for _, m := range matches {
			if err := checked(m); err != nil {
				return nil, err
			}
		}
		if all = append(all, matches...); len(all) > mostFiles {
			return nil, fmt.Errorf("over %d files: name a folder", mostFiles)
		}
	}
	return all, nil
}
