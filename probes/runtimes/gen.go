package runtimes

//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -target bpfel -type place -type goroutine -type waiting -type unlock -type stop -cflags "-O2 -g -Wall -Werror -I../bpf -I." golang golang.bpf.c
