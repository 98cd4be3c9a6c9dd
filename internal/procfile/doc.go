// Package procfile reads the text files of /proc and /sys, live or copied, and knows
// which of their fields are recorded and as what series: names are node_exporter's.
package procfile
