//go:build production

package cmd

// The image has no file of certificate authorities: the program brings Mozilla's with it, and uses those of the machine where there are any.
import _ "golang.org/x/crypto/x509roots/fallback"
