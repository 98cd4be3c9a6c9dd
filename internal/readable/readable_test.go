package readable

import (
	"strings"
	"testing"
)

func TestReadableNames(t *testing.T) {
	for name, want := range map[string]string{
		"main": "main", "_ZN5media5Relay4pushEi": "media::Relay::push", "runtime.goexit": "runtime.goexit",
		"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE": "core::fmt::Formatter::pad", "_Z": "_Z",
		"_RNvCskwGfYPst2Cb_3foo16example_function": "foo::example_function",
		"_Z" + strings.Repeat("N", 2000):           "_Z" + strings.Repeat("N", 2000),
	} {
		if got := Name(name); got != want {
			t.Errorf("%.60s: %.100q, want %.100q", name, got, want)
		}
	}
}

func TestNamesOfD(t *testing.T) {
	for mangled, want := range map[string]string{
		"_Dmain":                           "D main",
		"_D4main3fooFZv":                   "main.foo",
		"_D3std5stdio4File5writeMFAxaZv":   "std.stdio.File.write",
		"_D8demangle4mainFZ9__lambda1FZv":  "demangle.main",
		"_D3std9algorithm__T4sortTiZQiFZv": "std.algorithm", // a template without its length: of an old compiler
		"_D4test__T3mapZ":                  "test",
		"_D4core6memoryQh":                 "core.memory.memory",
		"_DYNAMIC":                         "", "_D": "", "_D9": "", "_D99999999999999999999a": "", "main": "",
	} {
		if got := dName(mangled); got != want {
			t.Errorf("%s: %q, want %q", mangled, got, want)
		}
	}
	if got := Name("_D3std9algorithm11__T4sortTiZ3runFZv"); got != "std.algorithm.sort!.run" {
		t.Error(got)
	}
}

func FuzzName(f *testing.F) {
	for _, s := range []string{"_ZN5media5Relay4pushEi", "_RNvCskwGfYPst2Cb_3foo16example_function", "_D4core6memoryQhZ", "_D3std9algorithm11__T4sortTiZ3runFZv"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if len(name) > 2048 {
			return
		}
		if got := Name(name); name != "" && got == "" {
			t.Errorf("%q has no name any more", name)
		}
	})
}
