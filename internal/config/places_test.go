package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPlacesOfCustomers: where mails send customers is checked, and all of it may be missing.
func TestPlacesOfCustomers(t *testing.T) {
	t.Parallel()

	for name, n := range map[string]Notify{
		"":              {SupportPhone: "+966 11 200-0000", SupportEmail: "help@rihla.test", TripURL: "https://rihla.test/trips/{trip_id}"},
		"TRIP_URL":      {TripURL: "https://rihla.test/trips"},
		"SUPPORT_PHONE": {SupportPhone: "call us"},
		"SUPPORT_EMAIL": {SupportEmail: "Help <help@rihla.test>"},
	} {
		var p problems

		Notify{}.checkCustomersPlaces(&p)
		n.checkCustomersPlaces(&p)

		if name == "" {
			require.Empty(t, p)

			continue
		}

		require.Len(t, p, 1, name)
		require.Contains(t, p[0], name)
	}
}
