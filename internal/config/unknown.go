package config

import (
	"regexp"
	"slices"
	"strings"

	"github.com/caarlos0/env/v11"
)

// UnknownVariable is a variable of the environment that nothing reads and whose name looks like one of ours.
type UnknownVariable struct {
	Name string
	// Meant is the known name that is most like it; empty when none is.
	Meant string
}

// ownPrefixes begin names of ours and of hardly any other program.
var ownPrefixes = []string{
	"GATEWAY_A_", "WALLET_B_", "WEBHOOK_SECRETS_", "RATE_LIMIT_", "PAGE_SIZE_", "LOGIN_", "JWT_", "MEDIA_", "SMS_", "VAT_RATE_", "BOOKING_",
	"BILL_PAYMENT_",
}

// serviceLinks are what Kubernetes and Docker tell of services of whatever name.
var serviceLinks = regexp.MustCompile(`_SERVICE_(HOST|PORT)|_PORT(_\d+_(TCP|UDP).*)?$`)

// Unknown lists, in order, the variables of environ that look like a misspelling of ours, or begin like ours. It never looks at
// values.
func Unknown(environ map[string]string) []UnknownVariable {
	known := knownVariables()

	var unknown []UnknownVariable

	for name := range environ {
		if slices.Contains(known, name) || serviceLinks.MatchString(name) {
			continue
		}

		meant := nearest(name, known)
		if meant != "" || slices.ContainsFunc(ownPrefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
			unknown = append(unknown, UnknownVariable{Name: name, Meant: meant})
		}
	}

	slices.SortFunc(unknown, func(a, b UnknownVariable) int { return strings.Compare(a.Name, b.Name) })

	return unknown
}

// foreign are names that others read and that are as short a way from one of ours as a misspelling.
var foreign = []string{"TEMPORAL_TLS", "TEMPORAL_API_KEY", "TEMPORAL_NAMESPACE", "TEMPORAL_PROFILE", "TEMPORAL_CONFIG_FILE"}

func knownVariables() []string {
	fields, err := env.GetFieldParams(&Config{})
	if err != nil {
		return nil // Load says why
	}

	names := slices.Clone(foreign)
	for _, field := range fields {
		names = append(names, field.Key)
	}

	return names
}

// nearest is the known name that a misspelling was meant to be: one or two letters away, in names long enough for that to be no
// accident.
func nearest(name string, known []string) string {
	const (
		shortest = 7 // SMS_URL; ENV and the like are near to too much
		long     = 10
	)

	if len(name) < shortest {
		return ""
	}

	allowed := 1
	if len(name) >= long {
		allowed = 2
	}

	best, found := allowed+1, ""

	for _, one := range known {
		if len(one) < shortest || slices.Contains(foreign, one) {
			continue
		}

		if d := distance(name, one, best); d < best {
			best, found = d, one
		}
	}

	return found
}

// distance is the number of letters to add, drop, change or swap with their neighbor; at least most when it is that or more.
func distance(a, b string, most int) int {
	if len(a)-len(b) >= most || len(b)-len(a) >= most {
		return most
	}

	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}

	for i := 1; i <= len(a); i++ {
		row[0] = i

		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}

			row[j] = min(last[j]+1, row[j-1]+1, change)

			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}

		before, last, row = last, row, before
	}

	return last[len(b)]
}
