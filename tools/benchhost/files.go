package benchhost

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// WriteJSON writes what was measured, in a folder that it makes.
func WriteJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", " ")
	if err := errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755)); err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}

// ReadJSON reads it back. target is the make target that measures it.
func ReadJSON(path, target string, v any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read what was measured: %w (make %s measures it)", err, target)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// Peers is the folder of the user's cache in which a make target keeps the programs that snag is measured beside.
func Peers(target string) string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "."
	}
	return filepath.Join(cache, "snag", target)
}
