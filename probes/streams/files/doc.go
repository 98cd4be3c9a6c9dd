// Package files finds who writes the playlist and the segments of an HLS stream that
// is served from this host: the process that has a file open to write which is the next
// of those that the playlist lists. So a stream that a web server gives out of a folder
// is joined with the process that packs it, and with what feeds that one. It follows
// the playlist's time of change and the segment's size once a second. Of the playlist
// only the names that it lists are read, of a segment nothing.
package files
