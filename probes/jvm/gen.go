package jvm

//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -target bpfel -type stop -cflags "-O2 -g -Wall -Werror -I../bpf -I." safepoint safepoint.bpf.c
