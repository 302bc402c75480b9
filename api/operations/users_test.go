package operations

import (
	"context"
	"log/slog"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/storetest"
	"rihla/models"
)

// TestAnswerAboutAChangedAccount: the change is committed, so its answer is given, without what could not be read beside it.
func TestAnswerAboutAChangedAccount(t *testing.T) {
	t.Parallel()

	o := &Operations{Deps: Deps{Store: storetest.New(t), Log: slog.New(slog.DiscardHandler)}}

	over, cancel := context.WithCancel(t.Context())
	cancel()

	u := models.User{ID: models.NewID(), Name: "Changed"}

	_, err := o.Store.Accounts.LastLogins(over, []uuid.UUID{u.ID})
	require.Error(t, err)

	answer, err := o.account(over, u, nil)
	require.NoError(t, err)
	require.Equal(t, "Changed", answer.Data.Name)
	require.Nil(t, answer.Data.LastLoginAt)
}

// TestProofOfATokenWithoutASession: an issuer's token belongs to no session here, and so to none for which a password was typed.
func TestProofOfATokenWithoutASession(t *testing.T) {
	t.Parallel()

	o := &Operations{Deps: Deps{Store: storetest.New(t)}}
	err := o.proveOwner(t.Context(), &models.User{ID: models.NewID()}, nil)
	require.Equal(t, models.Invalid("password", "field.required"), err)
}
