// Package pcap reads captures: which connections there were, what was lost, resent,
// overtaken, held back or reset on them, and who waited for whom. It keeps figures of
// headers, never payload, in bounded memory.
package pcap
