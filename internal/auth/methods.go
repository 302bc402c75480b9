package auth

import (
	"slices"
	"strings"
)

// methodMFA is the authentication method "several factors" (RFC 8176).
const methodMFA = "mfa"

// factorOf is what an authentication method proves (RFC 8176): what its owner knows, has or is.
var factorOf = map[string]string{
	"pwd": "knows", "pin": "knows", "kba": "knows",
	"otp": "has", "hwk": "has", "swk": "has", "sc": "has",
	"fpt": "is", "face": "is", "iris": "is",
}

// SaysSecondFactor reports whether an issuer says, by `amr` or `acr`, that it has seen a second factor: so in words, or by methods of which
// two prove different things. One alone is one factor, whichever it is.
func SaysSecondFactor(methods []string, class string) bool {
	if slices.Contains(methods, methodMFA) {
		return true
	}

	proved := map[string]bool{}

	for _, method := range methods {
		if factor, ok := factorOf[method]; ok {
			proved[factor] = true
		}
	}

	if len(proved) > 1 {
		return true
	}

	class = strings.ToLower(class)

	return strings.HasSuffix(class, "multifactor") || strings.HasSuffix(class, "/mfa") || class == "aal2" || class == "aal3"
}
