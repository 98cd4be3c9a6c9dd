// Package livepage serves the page of a running watch (snag watch --page): the streams part
// of the written page, from the watch's memory. It is read-only, and for this host alone
// unless another address is named.
package livepage
