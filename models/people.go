package models

// Rows about people that one account reads within an hour of the clock (rules: privacy.lists): more than PeopleNoted are in the audit
// log, and more than PeopleWithoutCode need a code of an account that has a second factor.
const (
	PeopleNoted       = 1000
	PeopleWithoutCode = 5000
)
