package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// servedAt is where the fleet's page is, in the store's namespace.
const servedAt = "127.0.0.1:19849"

// served is what the page of snag serve says of the fleet, asked right after snag find.
func (f *Fleet) served() (d Document, err error) {
	token := filepath.Join(f.Dir(), "serve.token")
	f.run("monitor", "serve", []string{f.snag, "serve", "--listen", servedAt, "--token-file", token, "--ring", filepath.Join(f.Dir(), "no-ring"), "--fleet", f.Store.Query})
	p := f.procs["serve"]
	if err := f.Err(); err != nil {
		return d, err
	}
	defer f.Stop(p)
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until); f.Pause(500 * time.Millisecond) {
		secret, readErr := os.ReadFile(token)
		text, askErr := f.Output(f.Name("monitor"), "curl", "-sS", "--fail-with-body", "--max-time", "15", "-H", "Authorization: Bearer "+strings.TrimSpace(string(secret)), "http://"+servedAt+"/fleet.json")
		if err = errors.Join(readErr, askErr); err != nil {
			continue
		}
		if err = json.Unmarshal([]byte(text), &d); err != nil {
			return d, fmt.Errorf("lab: read the page's data: %w", err)
		}
		return d, nil
	}
	return d, fmt.Errorf("lab: ask snag serve for the fleet: %w", err)
}

// first is the first cause, without how many it affects: that grows from one answer to the next.
func (d Document) first() string {
	if len(d.Causes) == 0 {
		return ""
	}
	c := d.Causes[0]
	c.Victims = nil
	return c.String()
}
