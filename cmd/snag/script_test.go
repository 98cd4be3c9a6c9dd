package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"snag/recording"
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
		// pack DIR FILE packs a recording.
		"pack": func() {
			if err := recording.PackFile(os.Args[1], os.Args[2]); err != nil {
				os.Stderr.WriteString(err.Error() + "\n")
				os.Exit(1)
			}
		},
		// valid SCHEMA FILE checks a JSON file by a JSON Schema.
		"valid": func() {
			if err := valid(os.Args[1], os.Args[2]); err != nil {
				os.Stderr.WriteString(err.Error() + "\n")
				os.Exit(1)
			}
		},
	})
}

func valid(schema, file string) error {
	s, err := jsonschema.NewCompiler().Compile(schema)
	if err != nil {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	doc, err := jsonschema.UnmarshalJSON(f)
	if err != nil {
		return err
	}
	return s.Validate(doc)
}

// TestScripts runs every subcommand as a user would: see testdata/script.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			cases, err := filepath.Abs("../../suspects/testdata")
			if err != nil {
				return err
			}
			e.Setenv("CASES", cases) // txtar in txtar would be taken apart
			streams, err := filepath.Abs("../../probes/streams/passive/testdata")
			if err != nil {
				return err
			}
			e.Setenv("STREAMS", streams) // a capture of nginx-rtmp
			profiles, err := filepath.Abs("../../report/profile/testdata")
			if err != nil {
				return err
			}
			e.Setenv("PROFILES", profiles)
			captures, err := filepath.Abs("../../readers/pcap/testdata")
			if err != nil {
				return err
			}
			e.Setenv("CAPTURES", captures) // of the lab's incidents
			inside, err := filepath.Abs("testdata/inside")
			if err != nil {
				return err
			}
			e.Setenv("INSIDE", inside) // programs that several scripts look at
			schema, err := filepath.Abs("../../report/verdict.schema.json")
			e.Setenv("SCHEMA", schema)
			return err
		},
		UpdateScripts: os.Getenv("UPDATE") != "",
		Condition: func(cond string) (bool, error) {
			return cond == "root" && os.Getuid() == 0, nil
		},
	})
}
