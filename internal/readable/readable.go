// Package readable undoes the mangling of functions' names: C++, Rust and D.
package readable

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// Name undoes the mangling of C++, Rust and D. Parameters are left out, as the
// functions of most languages have none in their names.
func Name(name string) (out string) {
	// What it is given comes out of others' files: a fault of the parser is no end.
	defer func() {
		if recover() != nil {
			out = name
		}
	}()
	if strings.HasPrefix(name, "_Z") || strings.HasPrefix(name, "_R") || strings.HasPrefix(name, "__Z") {
		if s := demangle.Filter(name, demangle.NoParams, demangle.NoClones, demangle.MaxLength(9)); s != "" {
			return s
		}
		return name
	}
	if d := dName(name); d != "" {
		return d
	}
	return name
}
