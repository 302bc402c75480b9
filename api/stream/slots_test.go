package stream

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/db"
	"rihla/models"
)

func TestPlacesAreCountedByAccountAndCompany(t *testing.T) {
	t.Parallel()

	p := NewSlots("uploads", 2)
	company := uuid.New()
	one, two := db.Actor{UserID: uuid.New(), ProviderID: company}, db.Actor{UserID: uuid.New(), ProviderID: company}
	customer := db.Actor{UserID: uuid.New()}

	leave, err := p.Acquire(one)
	require.NoError(t, err)
	_, err = p.Acquire(two)
	require.NoError(t, err)

	_, err = p.Acquire(two)
	require.Equal(t, models.CodeRateLimited, models.CodeOf(err), "the company has two")

	for range 2 {
		_, err = p.Acquire(customer)
		require.NoError(t, err)
	}

	_, err = p.Acquire(customer)
	require.Equal(t, models.CodeRateLimited, models.CodeOf(err), "the account has two")

	leave()
	leave()

	again, err := p.Acquire(one)
	require.NoError(t, err)
	again()
	require.Equal(t, map[uuid.UUID]int{company: 1, two.UserID: 1, customer.UserID: 2}, p.taken, "nothing is remembered of who has none")

	none := NewSlots("uploads", 0)
	for range 100 {
		_, err = none.Acquire(customer)
		require.NoError(t, err)
	}
}
