//go:build !linux

package testkit

import "os"

// scratchDir is where the servers of tests keep their files.
func scratchDir() string { return os.TempDir() }
