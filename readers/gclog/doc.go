// Package gclog reads the logs that JVMs of Java 5 to 25 wrote of their collections
// and safepoints. What the lines say internal/gclog knows; here they become the same
// events as those of a JVM whose log is followed live (probes/jvm).
package gclog
