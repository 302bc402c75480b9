package operations

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/auth"
	"rihla/internal/store/accounts"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// TestStepUpMethods: the refusal says how each caller proves once more who they are.
func TestStepUpMethods(t *testing.T) {
	t.Parallel()

	now := time.Now()
	o := &Operations{Deps: Deps{Store: storetest.New(t), Now: func() time.Time { return now }}}
	ctx := t.Context()

	account := func(email string) models.User {
		u, err := o.Store.Accounts.CreateUser(ctx, models.User{
			Name: "One", Email: email, Phone: "+966500000001", PasswordHash: "x", Role: models.RoleFinanceAdmin,
		})
		require.NoError(t, err)

		return u
	}
	session := func(u models.User, seen models.SecondFactor, at time.Time) auth.Principal {
		_, hash := auth.NewRefreshToken()

		s, err := o.Store.Accounts.OpenSession(ctx, u, accounts.Opening{
			Token: models.RefreshToken{TokenHash: hash, ExpiresAt: now.Add(time.Hour)}, SecondFactor: seen, ProvedAt: at,
		})
		require.NoError(t, err)

		return auth.Principal{UserID: u.ID, Role: u.Role, SessionID: s.ID, IssuerFactor: seen == models.SecondFactorIssuer}
	}

	none, own := account("none@rihla.test"), account("own@rihla.test")
	_, err := o.Store.DB.ExecContext(ctx, "UPDATE users SET second_factor_at = now() WHERE id = ?", own.ID)
	require.NoError(t, err)

	external := func(seen bool, at time.Time) auth.Principal {
		return auth.Principal{UserID: none.ID, Role: none.Role, External: true, IssuerFactor: seen, AuthenticatedAt: at}
	}
	strict := session(none, "", time.Time{})
	strict.MustEnrol = true

	for name, c := range map[string]struct {
		caller auth.Principal
		code   models.Code // empty: let through
		method models.StepUpMethod
	}{
		"no factor":                       {caller: session(none, "", time.Time{})},
		"no factor where one is needed":   {caller: strict, code: models.CodeSecondFactorNeeded},
		"own, no code":                    {caller: session(own, models.SecondFactorIssuer, now.Add(-time.Hour)), code: models.CodeStepUpRequired, method: models.StepUpByCode},
		"own, a code":                     {caller: session(own, models.SecondFactorTOTP, time.Time{})},
		"issuer, in the morning":          {caller: session(none, models.SecondFactorIssuer, now.Add(-11*time.Hour)), code: models.CodeStepUpRequired, method: models.StepUpBySignOn},
		"issuer, not said when":           {caller: session(none, models.SecondFactorIssuer, time.Time{}), code: models.CodeStepUpRequired, method: models.StepUpBySignOn},
		"issuer, just now":                {caller: session(none, models.SecondFactorIssuer, now)},
		"another issuer, just now":        {caller: external(true, now.Add(-9*time.Minute))},
		"another issuer, in the morning":  {caller: external(true, now.Add(-11*time.Hour)), code: models.CodeStepUpRequired, method: models.StepUpByNewToken},
		"another issuer, not said when":   {caller: external(true, time.Time{}), code: models.CodeStepUpRequired, method: models.StepUpByNewToken},
		"another issuer without a factor": {caller: external(false, time.Time{})},
	} {
		err := o.SteppedUp(ctx, c.caller)
		if c.code == "" {
			require.NoError(t, err, name)

			continue
		}

		require.Equal(t, c.code, models.CodeOf(err), name)

		if c.method != "" {
			require.Equal(t, map[string][]string{"method": {string(c.method)}}, err.(*models.Error).EnglishDetails(), name) //nolint:errorlint,forcetypeassert // it is one
		}
	}
}
