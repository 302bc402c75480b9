package auth

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"log/slog"
	"testing"

	"github.com/MicahParks/jwkset"
	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/config"
	"rihla/models"
)

func TestGate(t *testing.T) {
	t.Parallel()

	_, ed, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)

	e, b := newExternalIssuer(t), newTokenBundle(t)
	e.publish(t, map[string]any{"ed": ed.Public()}, jwkset.UseSig)

	tokens := testTokens()
	tokens.JWKS = config.JWKSSources{{Issuer: e.url, URL: e.url}}
	verifier, err := NewVerifier(t.Context(), b.keys, tokens, slog.New(slog.DiscardHandler))
	require.NoError(t, err)

	user, company := uuid.New(), uuid.New()
	own, _, err := b.issuer.Issue(Principal{UserID: user, Role: models.RoleProviderStaff, ProviderID: company, Generation: 2})
	require.NoError(t, err)

	claims := e.claims()
	claims["sub"], claims["role"], claims["provider_id"], claims["gen"] = user.String(), "PROVIDER_STAFF", company.String(), 7
	external := sign(t, jwt.SigningMethodEdDSA, ed, "ed", claims)

	as := AccountStatus{Role: models.RoleProviderStaff, ProviderID: company, Generation: 2}
	later, promoted, moved := as, as, as
	later.Generation = 3
	promoted.Role = models.RoleProviderAdmin
	moved.ProviderID = uuid.New()
	gone, broken := models.NotFound(), errors.New("broken")

	for name, tt := range map[string]struct {
		token string
		now   AccountStatus
		err   error
		want  models.Code // empty: let through
	}{
		"own":                          {token: own, now: as},
		"own, ended since":             {token: own, now: later, want: models.CodeUnauthenticated},
		"own, with another role now":   {token: own, now: promoted, want: models.CodeUnauthenticated},
		"own, with another company":    {token: own, now: moved, want: models.CodeUnauthenticated},
		"own, account gone":            {token: own, err: gone, want: models.CodeUnauthenticated},
		"own, nobody knows":            {token: own, err: broken, want: models.CodeInternal},
		"external":                     {token: external, now: as},
		"external, after our password": {token: external, now: later},
		"external, with another role":  {token: external, now: promoted, want: models.CodeUnauthenticated},
		"external, another company":    {token: external, now: moved, want: models.CodeUnauthenticated},
		"external, account gone":       {token: external, err: gone, want: models.CodeUnauthenticated},
	} {
		gate := NewGate(verifier, func(_ context.Context, id, _ uuid.UUID) (AccountStatus, error) {
			require.Equal(t, user, id)

			return tt.now, tt.err
		})

		p, err := gate.Verify(t.Context(), tt.token)
		if tt.want == "" {
			require.NoError(t, err, name)
			require.Equal(t, user, p.UserID, name)

			continue
		}

		require.Equal(t, tt.want, models.CodeOf(err), name)
		require.Zero(t, p, name)
	}

	_, err = NewGate(verifier, nil).Verify(t.Context(), own+"x")
	require.Equal(t, models.CodeUnauthenticated, models.CodeOf(err), "a token that is not genuine asks for nobody")
}
