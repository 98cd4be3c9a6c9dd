// Package recording holds the one thing that the steps of snag hand to each
// other: all that a host said in a window of time, in a folder that ordinary
// tools open. This is the folder's contract.
//
// # Files
//
//	manifest.json        what it is: version, host, kernel, window, clock anchor,
//	                     target. Any editor, jq.
//	samples/             counters and gauges: a Prometheus TSDB. Prometheus (2.42
//	                     and later), promtool tsdb, Thanos, Mimir.
//	    wal/             while recording: the log, segments of 16 MB; afterwards
//	                     empty, since promtool 2.42 wants it there
//	    chunks_head/     while recording: chunks that are full; all that is in
//	                     them is in the log too, and only Prometheus reads them
//	    ULID/            afterwards: one block with everything
//	tables/NAME.jsonl    one row a line (the types of tables.go, event.go and
//	                     coverage.go). jq, DuckDB, pandas.
//	writer.lock          while recording: the writer's pid, held with flock
//	profiles/*.pb.gz     kept free for profiles. pprof, speedscope.
//
// A table without rows has no file. Other files and unknown columns are passed
// over. Nothing in a recording is a link; a reader follows none.
//
// A packed recording (NAME.snag) is one small file for keeping beside tests: a
// tar compressed with zstd that has samples.jsonl (one series a line: name,
// labels, t_ms, v; the first time in ms since the epoch, the others since the
// one before) in place of samples/, and damage.txt for what was already lost.
// tar --zstd -xf makes a folder of it. Open takes either form. The same
// recording packs to the same bytes.
//
// # Time
//
// Times of rows are nanoseconds on the recording's own clock (Time). Samples have
// the time at which they were read, in milliseconds, rounded down. The lines of a
// table are nearly in order of time; Open sorts them. The last coverage row of
// a probe counts.
//
// # Appending, and what survives
//
// Once a second the writer commits all new samples to the log and hands whole
// lines to the kernel, one write a table. kill -9 therefore loses at most the
// last second; the lock goes with the process. Nothing is synced until the
// end, so a power cut can lose more. The manifest is replaced by rename and
// synced: it is there whole from the first instant. Its end, and the counts of
// what was written, come last: a recording without an end was cut off and is
// read up to the last time seen in it.
//
// A disk that fills up ends the recording: Writer.Err says so, tables are cut
// back to their last whole line, the log stays, and all that was written can be
// judged. The writer's coverage row ("recording") counts what it refused: series
// beyond 50,000, label values over 256 bytes, names that Prometheus would not
// read, rows over 1 MB, times far outside the window, samples out of order.
//
// # What a reader tolerates
//
// A torn last line, lines that are no rows, a missing table or missing samples,
// a damaged block, a log that was not sealed (replayed read-only, never by a
// database, which would write to the folder),
// a missing end. Each is a sentence in Recording.Damage, and the rest is judged.
// An error comes only where there is nothing to judge: no manifest, one that
// can't be read, or another version.
//
// # Version
//
// manifest.json has "version". A column or a table may be added within a version.
// Anything else makes a new one, with a move in moves.go that carries the
// version before to it while it is read. A newer version than the reader's is an
// error that names the snag to use.
//
// # Size
//
// A find of 30 s on a host with 1,000 series and 200 sockets, each written every
// second: 5.2 MB, of it samples 0.15 MB; packed 0.3 MB. A socket row is about
// 850 bytes: what grows is the number of watched sockets.
//
// # Adding a table
//
// A row type with its Table name (tables.go), a field in Recording, a line in
// tables (rows.go).
package recording
