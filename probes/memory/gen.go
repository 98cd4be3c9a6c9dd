package memory

//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -target bpfel -type stall_key -type stall_value -type sum -cflags "-O2 -g -Wall -Werror -I../bpf -I." kernel memory.bpf.c
