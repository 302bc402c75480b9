package auth

import (
	"slices"
	"strings"
)

// methodMFA is the authentication method "several factors" (RFC 8176).
const methodMFA = "mfa"

// secondFactors are the authentication methods that are no password (RFC 8176).
var secondFactors = []string{methodMFA, "otp", "hwk", "swk", "sc", "fpt", "face", "iris"}

// SaysSecondFactor reports whether an issuer says, by `amr` or `acr`, that it has seen a second factor.
func SaysSecondFactor(methods []string, class string) bool {
	if slices.ContainsFunc(methods, func(method string) bool { return slices.Contains(secondFactors, method) }) {
		return true
	}

	class = strings.ToLower(class)

	return strings.HasSuffix(class, "multifactor") || strings.HasSuffix(class, "/mfa") || class == "aal2" || class == "aal3"
}
