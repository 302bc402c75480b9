package auth

import (
	_ "embed"
	"strings"
	"sync"
)

// commonPasswords are the most common passwords that are long enough to be taken, in lower case, one a line. Where they are from
// is in common_passwords.LICENSE.txt.
//
//go:embed common_passwords.txt
var commonPasswords string

var commonSet = sync.OnceValue(func() map[string]struct{} {
	set := map[string]struct{}{}
	for line := range strings.Lines(commonPasswords) {
		set[strings.TrimSuffix(line, "\n")] = struct{}{}
	}

	return set
})

// IsCommonPassword reports whether a password is one of those that are guessed first, in whatever letter case.
func IsCommonPassword(password string) bool {
	_, common := commonSet()[strings.ToLower(strings.TrimSpace(password))]

	return common
}
