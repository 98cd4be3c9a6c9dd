// Command dashboards writes the Grafana dashboards of packaging/grafana and the tables of their panels in
// docs/grafana.md. What a panel asks and what it answers is in host.go, streams.go and fleet.go; build.go makes
// Grafana's JSON of it with Grafana's own library.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", ".", "the top of snag's source")
	flag.Parse()
	for _, write := range []func(string) error{writeDashboards, writeDocs} {
		if err := write(*root); err != nil {
			fmt.Fprintln(os.Stderr, "dashboards:", err)
			os.Exit(1)
		}
	}
}

const (
	folder = "packaging/grafana"
	page   = "docs/grafana.md"
)

func writeDashboards(root string) error {
	for _, b := range boards {
		text, err := encode(b)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(root, folder, b.name+".json"), text, 0o644); err != nil {
			return fmt.Errorf("write the dashboard %s: %w", b.name, err)
		}
	}
	return nil
}

func writeDocs(root string) error {
	path := filepath.Join(root, page)
	was, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the page of the dashboards: %w", err)
	}
	text, err := withTables(string(was))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the page of the dashboards: %w", err)
	}
	return nil
}
