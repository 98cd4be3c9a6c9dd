package ends

//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -target bpfel -type end -cflags "-O2 -g -Wall -Werror -I../bpf -I." kernel ends.bpf.c
