// Package snapshot reads what was copied or printed of a host at one moment: files of
// /proc and /sys, the outputs of ethtool, tc, ss, netstat, nstat, numastat, sysctl and
// dmesg, a sosreport. Series and facts are named as the live probes name them. One
// moment gives totals and settings; two give rates.
package snapshot
