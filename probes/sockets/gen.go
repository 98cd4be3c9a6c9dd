package sockets

//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -target bpfel -type flow -type conn_key -type conn_value -type reset_key -type retransmit_key -type count -type signal_key -type signal_value -type hold_key -type hold -type writes -type turn_key -type turn_value -type unix_path -type error_key -type error_value -type error_path -type query_key -type query_value -type dns_key -type dns_query -type dns_server -type sent_query -cflags "-O2 -g -Wall -Werror -I../bpf -I." kernel sockets.bpf.c
