//go:build !robust

package main

// robustAll is for tools/robust.sh, which has the long forms of tests compiled.
const robustAll = false
