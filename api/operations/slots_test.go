package operations

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/db"
	"rihla/models"
)

func TestPlacesAreCountedByAccountAndCompany(t *testing.T) {
	t.Parallel()

	p := newSlots("uploads", 2)
	company := uuid.New()
	one, two := db.Actor{UserID: uuid.New(), ProviderID: company}, db.Actor{UserID: uuid.New(), ProviderID: company}
	customer := db.Actor{UserID: uuid.New()}

	leave, err := p.acquire(one)
	require.NoError(t, err)
	_, err = p.acquire(two)
	require.NoError(t, err)

	_, err = p.acquire(two)
	require.Equal(t, models.CodeRateLimited, models.CodeOf(err), "the company has two")

	for range 2 {
		_, err = p.acquire(customer)
		require.NoError(t, err)
	}

	_, err = p.acquire(customer)
	require.Equal(t, models.CodeRateLimited, models.CodeOf(err), "the account has two")

	leave()
	leave()

	again, err := p.acquire(one)
	require.NoError(t, err)
	again()
	require.Equal(t, map[uuid.UUID]int{company: 1, two.UserID: 1, customer.UserID: 2}, p.taken, "nothing is remembered of who has none")

	none := newSlots("uploads", 0)
	for range 100 {
		_, err = none.acquire(customer)
		require.NoError(t, err)
	}
}
