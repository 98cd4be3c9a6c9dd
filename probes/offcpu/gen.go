package offcpu

//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -target bpfel -type thread -type wait_key -type wait_value -type lock_key -type lock_value -type long_key -type long_value -type hold -type hand_key -type hand_value -type waker -type top -type top_key -cflags "-O2 -g -Wall -Werror -I../bpf -I." kernel offcpu.bpf.c
