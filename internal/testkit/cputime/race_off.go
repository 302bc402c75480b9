//go:build !race

package cputime

// Race says that the race detector is on: everything costs ten times as much, and what costs how much is seen without it.
const Race = false
