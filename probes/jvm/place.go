package jvm

import (
	"fmt"
	"regexp"
	"strconv"
)

// argPlace matches where a static probe says an argument is, as the assembler writes
// it: "8@%r12", "-4@%eax", "8@-24(%rbp)" on amd64, "8@x20" on arm64. The number is
// its size in bytes, negative if it is signed.
var argPlace = regexp.MustCompile(`^(-?[1248])@(?:(-?\d+)?\(%([a-z0-9]+)\)|%?([a-z0-9]+))$`)

// placeOf tells a program where an argument is, by struct pt_regs of the
// architecture (arch/x86/include/asm/ptrace.h, arch/arm64/include/asm/ptrace.h).
func placeOf(arg, arch string) (safepointPlace, error) {
	m := argPlace.FindStringSubmatch(arg)
	if m == nil {
		return safepointPlace{}, fmt.Errorf("an argument at %q is not read", arg)
	}
	size, _ := strconv.Atoi(m[1]) // it matched
	p := safepointPlace{Known: 1, Mask: ^uint64(0) >> (64 - 8*max(size, -size))}
	register := m[4]
	if register == "" {
		register, p.Deref = m[3], 1
		if m[2] != "" {
			add, err := strconv.ParseInt(m[2], 10, 32)
			if err != nil {
				return safepointPlace{}, fmt.Errorf("an argument at %q is not read: %w", arg, err)
			}
			p.Add = int32(add)
		}
	}
	offset, ok := registerOffset(register, arch)
	if !ok {
		return safepointPlace{}, fmt.Errorf("an argument in %q is not read: no such register of %s", arg, arch)
	}
	p.Reg = offset
	return p, nil
}

// amd64Registers are the general ones in the order of struct pt_regs, 8 bytes each, by
// the names of their 64, 32, 16 and 8 bits.
var amd64Registers = [][]string{
	{"r15", "r15d", "r15w", "r15b"}, {"r14", "r14d", "r14w", "r14b"}, {"r13", "r13d", "r13w", "r13b"}, {"r12", "r12d", "r12w", "r12b"},
	{"rbp", "ebp", "bp", "bpl"}, {"rbx", "ebx", "bx", "bl"}, {"r11", "r11d", "r11w", "r11b"}, {"r10", "r10d", "r10w", "r10b"},
	{"r9", "r9d", "r9w", "r9b"}, {"r8", "r8d", "r8w", "r8b"}, {"rax", "eax", "ax", "al"}, {"rcx", "ecx", "cx", "cl"},
	{"rdx", "edx", "dx", "dl"}, {"rsi", "esi", "si", "sil"}, {"rdi", "edi", "di", "dil"},
	{}, {}, {}, {}, {"rsp", "esp", "sp", "spl"},
}

func registerOffset(name, arch string) (uint32, bool) {
	switch arch {
	case "amd64":
		for i, names := range amd64Registers {
			for _, n := range names {
				if n == name {
					return uint32(8 * i), true
				}
			}
		}
	case "arm64": // x0 to x30, w0 to w30 their lower halves, then sp
		if name == "sp" {
			return 31 * 8, true
		}
		if len(name) > 1 && (name[0] == 'x' || name[0] == 'w') {
			if n, err := strconv.Atoi(name[1:]); err == nil && n >= 0 && n <= 30 && strconv.Itoa(n) == name[1:] {
				return uint32(8 * n), true
			}
		}
	}
	return 0, false
}
