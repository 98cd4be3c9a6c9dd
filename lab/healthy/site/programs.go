package site

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/pyclient"
)

//go:embed programs
var files embed.FS

// Program starts one of programs/ under that name and waits until it is ready.
func Program(b *drawn.Bench, ns, name, program string, args ...any) *lab.Process {
	argv := append([]string{pyclient.Python, Path(b, program), name}, texts(args)...)
	if filepath.Ext(program) == ".js" {
		argv[0] = "node"
	}
	p := b.Run(ns, name, argv)
	b.AwaitPrinted(p, "ready")
	return p
}

// Path is where a program of programs/ is on the stage.
func Path(b *drawn.Bench, program string) string {
	path := filepath.Join(b.Dir(), program)
	raw, err := files.ReadFile("programs/" + program)
	if err == nil {
		err = os.WriteFile(path, raw, 0o644)
	}
	if err != nil {
		b.Fail(program, err)
	}
	return path
}

func texts(args []any) []string {
	out := make([]string, len(args))
	for i, a := range args {
		if d, ok := a.(time.Duration); ok {
			a = d.Seconds() // as Python and the shell have it
		}
		out[i] = fmt.Sprint(a)
	}
	return out
}

// Loop starts a shell script that is done again and again, with a pause between.
func Loop(b *drawn.Bench, name, script string, pause time.Duration) {
	if !b.Noise() {
		return
	}
	b.Run("", name, []string{"sh", "-c", fmt.Sprintf("while :; do\n%s\nsleep %.3f\ndone", script, pause.Seconds())}, lab.MayEnd())
}
