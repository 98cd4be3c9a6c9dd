package jvm

import "testing"

func TestPlaces(t *testing.T) {
	whole, half := ^uint64(0), uint64(1<<32-1)
	for _, c := range []struct {
		arg, arch string
		want      safepointPlace
		ok        bool
	}{
		{"8@%r12", "amd64", safepointPlace{Known: 1, Reg: 24, Mask: whole}, true},
		{"-4@%eax", "amd64", safepointPlace{Known: 1, Reg: 80, Mask: half}, true},
		{"1@%dil", "amd64", safepointPlace{Known: 1, Reg: 112, Mask: 255}, true},
		{"8@-24(%rbp)", "amd64", safepointPlace{Known: 1, Reg: 32, Deref: 1, Add: -24, Mask: whole}, true},
		{"8@(%rsp)", "amd64", safepointPlace{Known: 1, Reg: 152, Deref: 1, Mask: whole}, true},
		{"8@x20", "arm64", safepointPlace{Known: 1, Reg: 160, Mask: whole}, true},
		{"-4@w1", "arm64", safepointPlace{Known: 1, Reg: 8, Mask: half}, true},
		{"8@x31", "arm64", safepointPlace{}, false},
		{"8@$5", "amd64", safepointPlace{}, false},
		{"8@foo(%rip)", "amd64", safepointPlace{}, false},
		{"16@%xmm0", "amd64", safepointPlace{}, false},
		{"8@99999999999(%rax)", "amd64", safepointPlace{}, false},
		{"", "amd64", safepointPlace{}, false},
	} {
		got, err := placeOf(c.arg, c.arch)
		if got != c.want || (err == nil) != c.ok {
			t.Errorf("%s on %s: %+v (%v)", c.arg, c.arch, got, err)
		}
	}
}
