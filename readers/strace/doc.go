// Package strace reads what strace(1) wrote, in every form that its options give.
package strace
