package states

//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -target bpfel -type found_key -type found_value -cflags "-O2 -g -Wall -Werror -I../bpf -I." kernel states.bpf.c
