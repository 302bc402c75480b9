//go:build !unix

package operations

import "os"

// flockDir cannot be had here: what killed processes leave behind stays.
func flockDir(string) *os.File { return nil }
