// Package nicstats picks, of the statistics that a network driver counts
// (ethtool -S), those that tell of loss and of queues, and names their series.
package nicstats
