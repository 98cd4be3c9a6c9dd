# A static 32-bit program for x86: reads a line, calls getppid (64) 1000 times, reads.
import os, struct, sys
line = bytes.fromhex("31db89e1ba40000000b803000000cd80")  # read(0, sp, 64)
code = line + bytes.fromhex("bee8030000" "b840000000cd804e75f6") + line + bytes.fromhex("31dbb801000000cd80")
base = 0x08048000
head = b"\x7fELF\1\1\1" + bytes(9) + struct.pack("<HHIIIIIHHHHHH", 2, 3, 1, base + 84, 52, 0, 0, 52, 32, 1, 0, 0, 0)
head += struct.pack("<IIIIIIII", 1, 0, base, base, 84 + len(code), 84 + len(code), 5, 4096)
open(sys.argv[1], "wb").write(head + code)
os.chmod(sys.argv[1], 0o755)
