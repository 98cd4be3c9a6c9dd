// Package wal writes and reads a write-ahead log in Prometheus' format (prometheus/tsdb/docs/format/wal.md).
//
// A log is a directory of segments 00000000, 00000001, … A segment is pages of 32 KB; only the last one may be
// shorter. A record is one fragment, or several where it does not fit the rest of its page: first, middle …, last.
// It never reaches over the end of its segment. A fragment has a head of 7 bytes: type and flags (1), length
// (2, big-endian), Castagnoli's CRC-32 of what follows (4). A byte 0 in the place of a type says that the rest of
// the page is empty. Records are compressed with snappy where that makes them shorter.
//
// Prometheus' own package does the same, and links its metrics, its logging and its test helpers.
package wal

import "hash/crc32"

const (
	pageSize = 32 << 10
	headSize = 7
)

// The types of fragments, and the flags beside them.
const (
	typePad    = 0
	typeFull   = 1
	typeFirst  = 2
	typeMiddle = 3
	typeLast   = 4
	typeMask   = 7
	flagSnappy = 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)
