// Package live shows what snag watch sees: a table in a terminal, plain lines
// elsewhere, JSON lines for programs. All of it is made from watch.Snapshot and
// watch.Happened; nothing here measures.
package live
