package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"

	"snag/internal/built"
)

// build compiles and links the test programs of these packages, with every CPU, and
// returns them by package; those that do not build are missing.
func build(ctx context.Context, dir string, all []pkg) map[string]string {
	programs := map[string]string{}
	for i, group := range distinct(slices.DeleteFunc(slices.Clone(all), func(p pkg) bool { return p.part })) {
		into := filepath.Join(dir, fmt.Sprint(i))
		args := []string{"test", "-c", "-vet=off", "-ldflags=-w", "-o", into + "/"}
		for _, p := range group {
			args = append(args, p.ImportPath)
		}
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stdout
		err := os.Mkdir(into, 0o755)
		if err == nil {
			err = cmd.Run()
		}
		if err != nil {
			fmt.Println("build the live tests:", err)
		}
		for _, p := range group {
			program := filepath.Join(into, path.Base(p.ImportPath)+".test")
			if _, err := os.Stat(program); err == nil {
				programs[p.ImportPath] = program
			}
		}
	}
	return programs
}

// buildPrograms links what tests run as another process, and tells them where it is.
// make check has them from make build.
func buildPrograms(ctx context.Context, dir string) error {
	if os.Getenv(built.Env) != "" {
		return nil
	}
	for name, path := range built.Programs {
		cmd := exec.CommandContext(ctx, "go", "build", "-ldflags=-w", "-o", filepath.Join(dir, name), path)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stdout
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("build %s: %w", name, err)
		}
	}
	return os.Setenv(built.Env, dir)
}

// distinct puts packages into groups of different last names, since one folder takes
// one program of a name.
func distinct(all []pkg) (groups [][]pkg) {
	seen := map[string]int{}
	for _, p := range all {
		name := path.Base(p.ImportPath)
		if seen[name] == len(groups) {
			groups = append(groups, nil)
		}
		groups[seen[name]] = append(groups[seen[name]], p)
		seen[name]++
	}
	return groups
}
