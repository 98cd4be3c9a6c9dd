package loops

import (
	"encoding/hex"
	"strings"
	"testing"
)

// What gcc 12.2 makes of each (gcc -O2 or -O0 -c, addresses not linked), but for those
// that name another source.
var compiled = []struct {
	name, code string
	at         int // where a sample falls
	want       Kind
	start      int
	text       string
}{
	{"while (atomic_flag_test_and_set(&flag)) ;", "ba010000000f1f0089d086050000000084c075f4c3", 16, Waits, 8, "mov eax, edx; xchg byte ptr [rip], al; test al, al; jne"},
	{"the same, -O0", "554889e590b80100000086050000000084c075f190905dc3", 10, Waits, 5, ""},
	{"while (atomic_flag_test_and_set(&flag)) _mm_pause();", "ba01000000eb0b660f1f840000000000f39089d086050000000084c075f2c390", 18, Pauses, 16, ""},
	{"while (atomic_exchange(&word, 1)) while (atomic_load(&word)) ;", "ba010000000f1f0089d087050000000085c074140f1f40008b050000000085c075f6ebe40f1f4000c3", 30, Waits, 24, "mov eax, dword ptr [rip]; test eax, eax; jne"},
	{"the same, where it tries", "ba010000000f1f0089d087050000000085c074140f1f40008b050000000085c075f6ebe40f1f4000c3", 16, Waits, 8, ""},
	{"the same, -O0", "554889e5eb1c90488d0500000000488945f0488b45f08b008945ec8b45ec85c075e5488d0500000000488945f8c745e8010000008b45e889c2488b45f8871089d08945e48b45e485c075bb90905dc3", 27, Waits, 7, ""},
	{"do want = 0; while (!atomic_compare_exchange_weak(&word, &want, 1));", "31c9ba0100000089c8f00fb1150000000075f4c3", 17, Waits, 7, "mov eax, ecx; lock cmpxchg dword ptr [rip], edx; jne"},
	{"the same, -O0: want is written", "554889e5c745f400000000488d0500000000488945f8c745f0010000008b45f089c1488b75f8488d55f48b02f00fb10e89c10f94c084c07502890a83f00184c075c290905dc3", 44, Tries, 4, ""},
	{"mine = atomic_fetch_add(&word, 1); while (plain != mine) ;", "ba01000000f00fc115000000000f1f008b050000000039d075f6c3", 22, Waits, 16, "mov eax, dword ptr [rip]; cmp eax, edx; jne"},
	{"while (atomic_exchange(&word, 1)) { for (i = 0; i < n; i++) _mm_pause(); if (n < 1024) n *= 2; }", "ba01000000b901000000660f1f44000089c887050000000085c0742431c06690f39083c00139c275f78d041281fa000400000f4cd0ebd9660f1f840000000000c3", 34, Pauses, 32, "pause; add eax, 0x1; cmp edx, eax; jne"},
	{"the same, -O0", "554889e5c745fc01000000eb24c745f800000000eb07f390908345f8018b45f83b45fc7cf1817dfcff0300007f03d165fc488d0500000000488945f0c745ec010000008b45ec89c2488b45f0871089d08945e88b45e885c075b390905dc3", 22, Pauses, 22, ""},
	{"pthread_spin_lock of glibc 2.36", "f0ff0f750b31c0c30f1f840000000000f390833f007fe9ebf7", 18, Pauses, 16, "pause; cmp dword ptr [rdi], 0x0; jg; jmp"},
	{"runtime.procyieldAsm of Go 1.26", "85c07407f39083e80175f9c3", 6, Pauses, 4, "pause; sub eax, 0x1; jne"},

	{"for (i = 0; i < n; i++) atomic_fetch_add(&counter, 1);", "4889f84885ff7e1a31d2660f1f440000f048830500000000014883c2014839d075eec3", 25, Works, 16, ""},
	{"while (!stop) atomic_fetch_add(&counter, 1);", "eb0f660f1f440000f048830500000000018b050000000085c074ed31c0c3", 17, Works, 8, ""},
	{"mov eax, 1; lock xadd [rdi], eax; cmp eax, 99; jle", "b801000000f00fc10783f8637ef2", 9, Tries, 0, ""},
	{"while (atomic_fetch_sub(&counter, 1) != 1) ;", "f048832d000000000175f5c3", 9, Tries, 0, ""},
	{"while (old < x && !atomic_compare_exchange_weak(&counter, &old, old + 1)) ;", "85f67e2e31d2662e0f1f840000000000488b05000000004839c77e0f488d4801f0480fb10d0000000075ec83c20139d675dec3", 32, Tries, 23, ""},
	{"for (i = 0; i < n; i++) s += table[i % 512];", "85ff7e2c31c031d2488d35000000009089c183c00181e1ff010000480314ce39c775ed4889d0c3", 18, Works, 16, ""},
	{"for (i = 0; i < n; i++) table[i % 512] += i;", "85ff7e224863ff31c0488d0d000000004889c281e2ff010000480104d14883c0014839c775eac3", 19, Works, 16, ""},
	{"while (n->next) n = n->next;", "4889f8488b3f4885ff75f58b4008c3", 3, Works, 0, ""},
	{"the same, -O0", "554889e548897de8c745fc00000000eb0b488b45e8488b00488945e8488b45e8488b004885c075e9488b45e88b50088b45fc01d05dc3", 21, Works, 17, ""},
	{"for (;;) ;", "ebfe66662e0f1f840000000000", 0, Works, 0, "jmp"},
	// Intel SDM 2: rep stosb is one instruction; gcc -O2 -mavx2 of a sum.
	{"vaddpd ymm0, ymm0, [rax]; add rax, 32; cmp rax, rdx; jne", "c5fd58004883c0204839d075f3c3", 4, Works, 0, ""},
	{"pause in a loop that stores: mov [rdi], eax; pause; jmp", "8907f390ebfa", 2, Works, 0, ""},
	{"pause in a loop that calls: call +0; pause; jmp", "e800000000f390ebf7", 5, Works, 0, ""},
}

func TestKinds(t *testing.T) {
	for _, c := range compiled {
		code, err := hex.DecodeString(c.code)
		if err != nil {
			t.Fatal(err)
		}
		l, ok := Around(code, c.at)
		switch {
		case !ok:
			t.Errorf("%s: no loop", c.name)
		case l.Kind != c.want || l.Start != c.start || c.text != "" && l.Text != c.text:
			t.Errorf("%s: %q from %d to %d: %s; want %q from %d: %s", c.name, l.Kind, l.Start, l.End, l.Text, c.want, c.start, c.text)
		}
		if l.Kind.Spins() != (c.want == Waits || c.want == Pauses) {
			t.Errorf("%s: spins %v", c.name, l.Kind.Spins())
		}
	}
}

// TestNoLoop: straight code, the way out of a loop, and offsets that are no
// instruction's.
func TestNoLoop(t *testing.T) {
	code, _ := hex.DecodeString("f0ff0f750b31c0c30f1f840000000000f390833f007fe9ebf7")
	for _, at := range []int{-1, len(code), len(code) + 100, 5, 7} {
		if l, ok := Around(code, at); ok {
			t.Errorf("at %d: a loop from %d to %d: %s", at, l.Start, l.End, l.Text)
		}
	}
	// The same loop with a kilobyte of no-ops in it is out of reach.
	far := append([]byte{0xf3, 0x90}, []byte(strings.Repeat("\x90", 1000))...)
	far = append(far, 0xe9, 0x11, 0xfc, 0xff, 0xff)
	if _, ok := Around(far, 0); ok {
		t.Error("a loop of a kilobyte is found")
	}
}

// TestTouches: a function that is called for each try has no loop (gcc -O0 of
// std::atomic_flag::test_and_set, from its exchange on).
func TestTouches(t *testing.T) {
	code, _ := hex.DecodeString("488b45f8b20186100fb6c25dc3")
	for at, want := range map[int]bool{0: true, 4: true, 6: true, 8: true, 11: false, 12: false, 13: false, -1: false} {
		if Touches(code, at) != want {
			t.Errorf("at %d: %v", at, !want)
		}
	}
}

// FuzzAround: any bytes, read anywhere, give an answer inside of them.
func FuzzAround(f *testing.F) {
	for _, c := range compiled {
		code, _ := hex.DecodeString(c.code)
		f.Add(code, c.at)
	}
	f.Fuzz(func(t *testing.T, code []byte, at int) {
		if len(code) > 4*Reach {
			code = code[:4*Reach]
		}
		Touches(code, at)
		l, ok := Around(code, at)
		if ok && (l.Start < 0 || l.Start > at || l.End <= at || l.End > len(code) || l.End-l.Start > 3*Reach) {
			t.Fatalf("at %d of %d: from %d to %d", at, len(code), l.Start, l.End)
		}
	})
}

func BenchmarkAround(b *testing.B) {
	code, _ := hex.DecodeString("f0ff0f750b31c0c30f1f840000000000f390833f007fe9ebf7")
	for b.Loop() {
		Around(code, 18)
	}
}
