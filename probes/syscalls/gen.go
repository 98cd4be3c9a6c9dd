package syscalls

//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -target bpfel -type call_key -type call_value -type in_call -type op -type op_key -type fd_key -type fd_note -type peek_note -cflags "-O2 -g -Wall -Werror -I../bpf -I." kernel syscalls.bpf.c
