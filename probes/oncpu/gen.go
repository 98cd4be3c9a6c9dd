package oncpu

//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -target bpfel -cflags "-O2 -g -Wall -Werror -I../bpf" kernel oncpu.bpf.c
