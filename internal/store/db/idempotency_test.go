package db_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/models"
)

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	k := b.Key()

	claim, err := b.Store.DB.ClaimKey(t.Context(), k, time.Minute)
	require.NoError(t, err)
	require.NotZero(t, claim.ID)

	_, err = b.Store.DB.ClaimKey(t.Context(), k, time.Minute)
	bookstest.RequireCode(t, models.CodeIdempotencyKeyInProcess, err)

	reused := k
	reused.BodyHash = []byte("other")
	_, err = b.Store.DB.ClaimKey(t.Context(), reused, time.Minute)
	bookstest.RequireCode(t, models.CodeIdempotencyKeyReused, err)

	mine := claim.ID
	answer := db.Answer{Status: 201, Location: "/api/v1/bookings/1", Body: []byte("{\"a\":\"\\u0000'\"}\xff")}
	require.NoError(t, b.Store.DB.CompleteKey(t.Context(), mine, answer))

	claim, err = b.Store.DB.ClaimKey(t.Context(), k, time.Minute)
	require.NoError(t, err)
	require.Equal(t, db.Claim{Answer: answer}, claim)

	_, err = b.Store.DB.ClaimKey(t.Context(), reused, time.Minute)
	bookstest.RequireCode(t, models.CodeIdempotencyKeyReused, err)

	// A second answer and a release come too late.
	require.NoError(t, b.Store.DB.CompleteKey(t.Context(), mine, db.Answer{Status: 500}))
	require.NoError(t, b.Store.DB.ReleaseKey(t.Context(), mine))

	claim, err = b.Store.DB.ClaimKey(t.Context(), k, time.Minute)
	require.NoError(t, err)
	require.Equal(t, 201, claim.Answer.Status)

	// Another user, method or path is another key.
	for _, edit := range []func(*db.KeyScope){
		func(s *db.KeyScope) { s.UserID = uuid.New() },
		func(s *db.KeyScope) { s.Method = "PUT" },
		func(s *db.KeyScope) { s.Path = "/other" },
	} {
		other := k
		edit(&other)

		claim, err = b.Store.DB.ClaimKey(t.Context(), other, time.Minute)
		require.NoError(t, err)
		require.NotZero(t, claim.ID)
	}
}

func TestRenewedKeyStaysTaken(t *testing.T) {
	t.Parallel()
	b := setup(t)
	k := b.Key()

	claim, err := b.Store.DB.ClaimKey(t.Context(), k, 0)
	require.NoError(t, err)
	require.NotZero(t, claim.ID)

	require.NoError(t, b.Store.DB.RenewKey(t.Context(), claim.ID, time.Minute))

	_, err = b.Store.DB.ClaimKey(t.Context(), k, time.Minute)
	bookstest.RequireCode(t, models.CodeIdempotencyKeyInProcess, err)
}

func TestReleasedKeyIsFresh(t *testing.T) {
	t.Parallel()
	b := setup(t)
	k := b.Key()

	for range 3 {
		claim, err := b.Store.DB.ClaimKey(t.Context(), k, time.Minute)
		require.NoError(t, err)
		require.NotZero(t, claim.ID)
		require.NoError(t, b.Store.DB.ReleaseKey(t.Context(), claim.ID))
	}
}

func TestKeyOfADeadRequestIsTakenOver(t *testing.T) {
	t.Parallel()
	b := setup(t)
	k := b.Key()

	_, err := b.Store.DB.ClaimKey(t.Context(), k, time.Minute)
	require.NoError(t, err)
	b.Exec(t, "UPDATE idempotency_keys SET locked_until = now()")

	reused := k
	reused.BodyHash = []byte("other")
	_, err = b.Store.DB.ClaimKey(t.Context(), reused, time.Minute)
	bookstest.RequireCode(t, models.CodeIdempotencyKeyReused, err)

	claim, err := b.Store.DB.ClaimKey(t.Context(), k, time.Minute)
	require.NoError(t, err)
	require.NotZero(t, claim.ID)

	_, err = b.Store.DB.ClaimKey(t.Context(), k, time.Minute)
	bookstest.RequireCode(t, models.CodeIdempotencyKeyInProcess, err)
}

func TestOldKeysCountAsAbsent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	k, young := b.Key(), b.Key()

	for _, one := range []db.KeyScope{k, young} {
		claim, err := b.Store.DB.ClaimKey(t.Context(), one, time.Minute)
		require.NoError(t, err)
		require.NoError(t, b.Store.DB.BindKey(t.Context(), claim.ID, models.NewID()))
		require.NoError(t, b.Store.DB.CompleteKey(t.Context(), claim.ID, db.Answer{Status: 201, Location: "/x", Body: []byte("{}")}))
	}

	b.Exec(t, "UPDATE idempotency_keys SET created_at = now() - interval '24 hours 1 second' WHERE key = $1", k.Key)

	other := k
	other.BodyHash = []byte("other")
	claim, err := b.Store.DB.ClaimKey(t.Context(), other, time.Minute)
	require.NoError(t, err)
	require.NotZero(t, claim.ID)
	require.Zero(t, claim.ResourceID, "it is another intention")
	_, err = b.Store.DB.ClaimKey(t.Context(), other, time.Minute)
	bookstest.RequireCode(t, models.CodeIdempotencyKeyInProcess, err)

	b.Exec(t, "UPDATE idempotency_keys SET created_at = now() - interval '25 hours' WHERE key = $1", k.Key)

	n, err := b.Store.DB.PurgeKeys(t.Context(), db.KeyLifetime)
	require.NoError(t, err)
	require.EqualValues(t, 1, n)

	claim, err = b.Store.DB.ClaimKey(t.Context(), young, time.Minute)
	require.NoError(t, err)
	require.Equal(t, 201, claim.Answer.Status)
}

func TestOneKeyInParallel(t *testing.T) {
	t.Parallel()

	race := func(t *testing.T, b *books, k db.KeyScope) {
		t.Helper()

		var fresh, running, other atomic.Int32

		bookstest.Parallel(50, func(int) {
			claim, err := b.Store.DB.ClaimKey(t.Context(), k, time.Minute)

			switch {
			case err == nil && claim.ID != uuid.Nil:
				fresh.Add(1)
			case models.CodeOf(err) == models.CodeIdempotencyKeyInProcess:
				running.Add(1)
			default:
				other.Add(1)
			}
		})

		require.EqualValues(t, 1, fresh.Load())
		require.EqualValues(t, 49, running.Load())
		require.Zero(t, other.Load())
	}

	t.Run("a new key", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		race(t, b, b.Key())
	})

	t.Run("the key of a dead request", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		k := b.Key()

		_, err := b.Store.DB.ClaimKey(t.Context(), k, time.Minute)
		require.NoError(t, err)
		b.Exec(t, "UPDATE idempotency_keys SET locked_until = now()")
		race(t, b, k)
	})
}
