package models_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rihla/models"
)

const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// withCheck finds the one character that makes a number of six.
func withCheck(t require.TestingT, body string) string {
	var found []string

	for i := range len(crockford) {
		if number, ok := models.ParseBookingNumber("RB-" + body + crockford[i:i+1]); ok {
			found = append(found, number)
		}
	}

	require.Len(t, found, 1)

	return found[0]
}

func TestBookingNumbersFindMistakes(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		body := rapid.StringOfN(rapid.RuneFrom([]rune(crockford)), 6, 6, -1).Draw(t, "body")
		number := withCheck(t, body)

		place := rapid.IntRange(3, 9).Draw(t, "place")
		other := crockford[rapid.IntRange(0, 31).Draw(t, "other")]

		if number[place] != other {
			wrong := number[:place] + string(other) + number[place+1:]
			read, ok := models.ParseBookingNumber(wrong)
			require.Equal(t, wrong, read)
			require.False(t, ok)
		}
	})
}

func TestBookingNumbersAsPeopleWriteThem(t *testing.T) {
	t.Parallel()

	number := withCheck(t, "7XK010")
	require.Equal(t, "RB-7XK010", number[:9])

	for _, written := range []string{
		number, " rb-7xk010" + number[9:] + " ", "RB7XK010" + number[9:], "RB 7XK 010" + number[9:], "rb-7xkolo" + number[9:],
		"RB-٧XK٠١٠" + number[9:], "RB-۷XKO1O" + number[9:],
	} {
		read, ok := models.ParseBookingNumber(written)
		require.True(t, ok, written)
		require.Equal(t, number, read, written)
	}

	for _, none := range []string{"", "RB-", "RB-123", "Rb", "RH-2026-000001", "rbabcdefg", "RB-12345678", "RB-1234U67", "Mohamed"} {
		read, ok := models.ParseBookingNumber(none)
		require.Empty(t, read, none)
		require.False(t, ok, none)
	}
}
