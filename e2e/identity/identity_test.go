package identity_test

import (
	"testing"

	"rihla/e2e/harness"
)

// TestIdentity: its parts share one service and have accounts of their own.
func TestIdentity(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{})

	for name, part := range map[string]func(*testing.T, *harness.Stack){
		"cookies": cookies, "leaving": leaving, "other sites": otherSites, "fixation": fixation, "stolen cookie": stolenCookie, "own sessions": ownSessions,
		"second factor": secondFactor, "a code counts once": codeOnce, "recovery codes": recoveryCodes, "tries are bounded": boundedTries,
		"step-up": stepUp, "many people": manyPeople, "step-up for money": stepUpForMoney, "enrolling": enrolling, "managed accounts": managedAccounts, "invitation": invitation, "reset": reset,
		"verification": verification, "a stranger's account": strangersAccount, "another's link": anothersLink, "enumeration": enumeration, "command line": commandLine,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			part(t, s.For(t))
		})
	}
}
