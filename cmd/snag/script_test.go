package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"snag/recording/rectest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"snag": main,
		// record CASE DIR writes a case written by hand as a recording's folder.
		"record": func() {
			if err := rectest.Write(os.Args[1], os.Args[2]); err != nil {
				os.Stderr.WriteString(err.Error() + "\n")
				os.Exit(1)
			}
		},
	})
}

// TestScripts runs every subcommand as a user would: see testdata/script.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			cases, err := filepath.Abs("../../suspects/testdata")
			e.Setenv("CASES", cases) // txtar in txtar would be taken apart
			return err
		},
		UpdateScripts: os.Getenv("UPDATE") != "",
		Condition: func(cond string) (bool, error) {
			return cond == "root" && os.Getuid() == 0, nil
		},
	})
}
