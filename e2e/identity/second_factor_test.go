package identity_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/api/gen"
	"rihla/e2e/harness"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// secondFactor is the life of one: from enrolling to removing it.
func secondFactor(t *testing.T, s *harness.Stack) {
	t.Helper()

	p := newPerson(t, s, models.RoleFinanceAdmin)
	in, elsewhere := p.signIn(t, s), p.signIn(t, s)
	me := s.With(in.AccessToken)

	refused(t, http.StatusConflict, models.CodeInvalidState, me.Post(totpPath+"/confirm", object{"code": "123456"}))
	require.Equal(t, http.StatusOK, me.Post(totpPath, nil).Status, "the password was typed a moment ago")
	change(t, s, "UPDATE sessions SET created_at = created_at - interval '11 minutes' WHERE id = $1", in.SessionID)
	refused(t, http.StatusUnprocessableEntity, models.CodeValidation, me.Post(totpPath, nil))
	refused(t, http.StatusUnprocessableEntity, models.CodeValidation, me.Post(totpPath, object{"password": "not-the-password"}))

	p.enrol(t, me)
	refused(t, http.StatusUnauthorized, models.CodeUnauthenticated, s.With(elsewhere.AccessToken).Get(mePath))
	refused(t, http.StatusConflict, models.CodeInvalidState, me.Post(totpPath, object{"password": storetest.Password}))

	own := data[gen.OwnAccount](t, http.StatusOK, me.Get(mePath))
	require.True(t, own.SecondFactor)
	require.False(t, own.SecondFactorNeeded)
	require.NotNil(t, own.SteppedUpUntil, "the first code counts for what comes next")

	// The secret is in no row as it is.
	require.Equal(t, 0, s.Count("SELECT count(*) FROM second_factors AS f WHERE position($1::text::bytea in f.secret) > 0", p.secret))

	// Password, then code.
	a := answer(s, p.challenge(t, s), p.code(t))
	again := data[gen.Tokens](t, http.StatusOK, a)
	require.Equal(t, http.StatusOK, s.With(again.AccessToken).Get(mePath).Status)

	b := newBrowser(s).with(bySession)
	p.forget(t, s)

	asked := data[gen.SecondFactorNeeded](t, http.StatusOK,
		b.do(t, http.MethodPost, loginPath, object{"email": p.Email, "password": storetest.Password}))
	require.Empty(t, b.jar, "no session before the code")
	require.Equal(t, http.StatusOK, b.do(t, http.MethodPost, loginPath+"/totp", object{"mfa_token": asked.MfaToken, "code": p.code(t)}).Status)
	require.Len(t, b.jar, 2)

	require.Equal(t, http.StatusNoContent, b.do(t, http.MethodDelete, totpPath, nil).Status)
	refused(t, http.StatusUnauthorized, models.CodeUnauthenticated, s.With(again.AccessToken).Get(mePath))
	require.NotEmpty(t, p.signIn(t, s).AccessToken, "the password is enough again")

	for action, n := range map[string]int{"SECOND_FACTOR_ADDED": 1, "SECOND_FACTOR_REMOVED": 1} {
		require.Equal(t, n, audited(s, action, p.ID))
		require.Equal(t, n, s.Count("SELECT count(*) FROM notifications WHERE kind = $1 AND user_id = $2", action, p.ID))
	}
}

// codeOnce: of many that send the same code at once, one gets in, and none after that.
func codeOnce(t *testing.T, s *harness.Stack) {
	t.Helper()

	p := newPerson(t, s, models.RoleEndUser)
	p.enrol(t, s.With(p.signIn(t, s).AccessToken))

	for range 3 {
		p.forget(t, s)

		code := p.code(t)
		statuses := make(chan int, 8)

		var sending sync.WaitGroup
		for range cap(statuses) {
			challenge := p.challenge(t, s)

			sending.Go(func() {
				a, err := s.Anybody().Do(http.MethodPost, loginPath+"/totp", object{"mfa_token": challenge, "code": code}, nil)
				if err != nil {
					t.Error(err)
				}

				statuses <- a.Status
			})
		}

		sending.Wait()
		close(statuses)

		in := 0

		for status := range statuses {
			if status == http.StatusOK {
				in++
			} else {
				require.Equal(t, http.StatusUnauthorized, status)
			}
		}

		require.Equal(t, 1, in)
		refused(t, http.StatusUnauthorized, models.CodeInvalidCredentials, answer(s, p.challenge(t, s), code))
	}

	// A code of an older step than the last one that has counted is worth nothing either.
	p.forget(t, s)

	older, newer := p.code(t), p.code(t)
	require.Equal(t, http.StatusOK, answer(s, p.challenge(t, s), newer).Status)
	refused(t, http.StatusUnauthorized, models.CodeInvalidCredentials, answer(s, p.challenge(t, s), older))

	// A challenge counts once, too.
	p.forget(t, s)

	challenge := p.challenge(t, s)
	require.Equal(t, http.StatusOK, answer(s, challenge, p.code(t)).Status)
	refused(t, http.StatusUnauthorized, models.CodeInvalidCredentials, answer(s, challenge, p.code(t)))
}

// recoveryCodes are good once each, however they are typed, and for stepping up, too.
func recoveryCodes(t *testing.T, s *harness.Stack) {
	t.Helper()

	p := newPerson(t, s, models.RoleAdmin)
	codes := p.enrol(t, s.With(p.signIn(t, s).AccessToken))
	require.Len(t, codes, 10)

	in := data[gen.Tokens](t, http.StatusOK, answer(s, p.challenge(t, s), codes[0]))
	refused(t, http.StatusUnauthorized, models.CodeInvalidCredentials, answer(s, p.challenge(t, s), codes[0]))
	require.Equal(t, http.StatusOK, answer(s, p.challenge(t, s), strings.ToLower(strings.ReplaceAll(codes[1], "-", ""))).Status)
	require.Equal(t, http.StatusOK, s.With(in.AccessToken).Post("/api/v1/auth/step-up", object{"code": codes[2]}).Status)
	refused(t, http.StatusUnprocessableEntity, models.CodeValidation, s.With(in.AccessToken).Post("/api/v1/auth/step-up", object{"code": codes[2]}))

	require.Equal(t, 3, audited(s, "RECOVERY_CODE_USED", p.ID))
	require.Equal(t, 7, s.Count("SELECT count(*) FROM recovery_codes WHERE user_id = $1 AND used_at IS NULL", p.ID))

	for _, code := range codes {
		plain := strings.ReplaceAll(code, "-", "")
		require.Equal(t, 0, s.Count("SELECT count(*) FROM recovery_codes AS c WHERE position($1 in c::text) > 0", plain))
	}
}

// boundedTries: a log-in takes 5 codes, and each wrong one is a failed log-in of the account.
func boundedTries(t *testing.T, s *harness.Stack) {
	t.Helper()

	p := newPerson(t, s, models.RoleSupportAgent)
	p.enrol(t, s.With(p.signIn(t, s).AccessToken))

	challenge := p.challenge(t, s)

	// Beside each other, so that a count that is read before it is written would be seen.
	var sending sync.WaitGroup
	for range 8 {
		sending.Go(func() {
			a, err := s.Anybody().Do(http.MethodPost, loginPath+"/totp", object{"mfa_token": challenge, "code": "000000"}, nil)
			if err != nil || a.Status != http.StatusUnauthorized {
				t.Errorf("%d %v", a.Status, err)
			}
		})
	}

	sending.Wait()
	require.Equal(t, 5, s.Count("SELECT tries FROM login_challenges WHERE user_id = $1", p.ID))
	refused(t, http.StatusUnauthorized, models.CodeInvalidCredentials, answer(s, challenge, p.code(t)))
	require.GreaterOrEqual(t, audited(s, "LOGIN_FAILED", p.ID), 5)

	// One that has waited too long is over.
	challenge = p.challenge(t, s)
	change(t, s, "UPDATE login_challenges SET expires_at = now() WHERE user_id = $1", p.ID)
	refused(t, http.StatusUnauthorized, models.CodeInvalidCredentials, answer(s, challenge, p.code(t)))

	// So is one whose account has got a new password meanwhile.
	p.forget(t, s)
	challenge = p.challenge(t, s)
	out, err := s.Command(nextPass+"\n", "user", "password", "--email", p.Email)
	require.NoError(t, err, out)
	refused(t, http.StatusUnauthorized, models.CodeInvalidCredentials, answer(s, challenge, p.code(t)))
}

// stepUp: a code counts for 10 minutes, in its session alone; who has no second factor is not asked.
func stepUp(t *testing.T, s *harness.Stack) {
	t.Helper()

	p := newPerson(t, s, models.RoleAdmin)
	deactivate := func(token string) harness.Answer {
		return s.With(token).Post("/api/v1/admin/providers/"+s.For(t).World.Provider.ID.String()+"/deactivate", nil)
	}

	without := p.signIn(t, s)
	require.Equal(t, http.StatusOK, deactivate(without.AccessToken).Status, "without a second factor")
	refused(t, http.StatusConflict, models.CodeInvalidState, s.With(without.AccessToken).Post("/api/v1/auth/step-up", object{"code": "123456"}))

	p.enrol(t, s.With(without.AccessToken))
	require.Equal(t, http.StatusOK, deactivate(without.AccessToken).Status, "the first code counts")

	other := data[gen.Tokens](t, http.StatusOK, answer(s, p.challenge(t, s), p.code(t)))
	old := func(session any) {
		change(t, s, "UPDATE sessions SET code_at = now() - interval '11 minutes' WHERE id = $1", session)
	}

	old(without.SessionID)
	refused(t, http.StatusForbidden, models.CodeStepUpRequired, deactivate(without.AccessToken))
	require.Equal(t, http.StatusOK, deactivate(other.AccessToken).Status, "a session by itself")
	require.Equal(t, http.StatusOK, s.With(without.AccessToken).Get("/api/v1/admin/providers").Status, "reading needs none")

	refused(t, http.StatusUnprocessableEntity, models.CodeValidation, s.With(without.AccessToken).Post("/api/v1/auth/step-up", object{"code": "000000"}))
	refused(t, http.StatusForbidden, models.CodeStepUpRequired, deactivate(without.AccessToken))

	p.forget(t, s)
	up := data[gen.StepUp](t, http.StatusOK, s.With(without.AccessToken).Post("/api/v1/auth/step-up", object{"code": p.code(t)}))
	require.WithinDuration(t, *data[gen.OwnAccount](t, http.StatusOK, s.With(without.AccessToken).Get(mePath)).SteppedUpUntil, up.SteppedUpUntil, 0)
	require.Equal(t, http.StatusOK, deactivate(without.AccessToken).Status)

	// Refreshing takes nothing away and adds nothing.
	old(other.SessionID)

	next := data[gen.Tokens](t, http.StatusOK, s.Anybody().Post(refreshPath, object{"refresh_token": other.RefreshToken}))
	refused(t, http.StatusForbidden, models.CodeStepUpRequired, deactivate(next.AccessToken))
}

// stepUpForMoney: a refund above the amount asks for a code when it is ordered, approved and paid out, and one up to it does not.
func stepUpForMoney(t *testing.T, s *harness.Stack) {
	t.Helper()

	own := s.For(t)
	own.World.Trip = own.NewTripAt("6000.00")
	card, bill := own.As(models.RoleEndUser).BookPaid(1), own.As(models.RoleEndUser).BookBilled(1)

	asks, decides := newPerson(t, s, models.RoleFinanceAdmin), newPerson(t, s, models.RoleFinanceAdmin)
	asking, deciding := asks.signIn(t, s), decides.signIn(t, s)
	asks.enrol(t, s.With(asking.AccessToken))
	decides.enrol(t, s.With(deciding.AccessToken))

	old := func(session any) {
		change(t, s, "UPDATE sessions SET code_at = now() - interval '11 minutes' WHERE id = $1", session)
	}
	fresh := func(session any) { change(t, s, "UPDATE sessions SET code_at = now() WHERE id = $1", session) }
	order := func(booking uuid.UUID, amount string) harness.Answer {
		return s.With(asking.AccessToken).Post("/api/v1/admin/bookings/"+booking.String()+"/refund",
			object{"refund_type": "PARTIAL", "amount": json.Number(amount)})
	}
	decide := func(refund uuid.UUID, what string, body object) harness.Answer {
		return s.With(deciding.AccessToken).Post("/api/v1/admin/refunds/"+refund.String()+"/"+what, body)
	}

	old(asking.SessionID)
	require.Equal(t, http.StatusCreated, order(card.ID, "1000.00").Status, "up to the amount")
	refused(t, http.StatusForbidden, models.CodeStepUpRequired, order(card.ID, "1000.01"))
	require.Equal(t, 1, s.Count("SELECT count(*) FROM refunds WHERE booking_id = $1", card.ID))
	fresh(asking.SessionID)

	waits := data[gen.Refund](t, http.StatusAccepted, order(card.ID, "4500.00"))
	require.True(t, waits.NeedsApproval)
	old(deciding.SessionID)
	refused(t, http.StatusForbidden, models.CodeStepUpRequired, decide(waits.ID, "approve", object{}))
	require.Equal(t, 0, s.Count("SELECT count(*) FROM refund_approvals WHERE refund_id = $1", waits.ID))
	fresh(deciding.SessionID)
	require.Equal(t, http.StatusOK, decide(waits.ID, "approve", object{}).Status)

	byHand := data[gen.Refund](t, http.StatusAccepted, order(bill.ID, "1000.01"))
	old(deciding.SessionID)
	refused(t, http.StatusForbidden, models.CodeStepUpRequired, decide(byHand.ID, "confirm-payout", object{"payout_reference": "TRF-1"}))
	fresh(deciding.SessionID)
	require.Equal(t, http.StatusOK, decide(byHand.ID, "confirm-payout", object{"payout_reference": "TRF-1"}).Status)
}

// enrolling: of two secrets that were begun the last one counts, and of two that confirm it at once one does.
func enrolling(t *testing.T, s *harness.Stack) {
	t.Helper()

	p := newPerson(t, s, models.RoleEndUser)
	me := s.With(p.signIn(t, s).AccessToken)

	first := data[gen.NewSecondFactor](t, http.StatusOK, me.Post(totpPath, object{"password": storetest.Password}))
	second := data[gen.NewSecondFactor](t, http.StatusOK, me.Post(totpPath, object{"password": storetest.Password}))
	require.NotEqual(t, first.Secret, second.Secret)

	p.secret = first.Secret
	refused(t, http.StatusUnprocessableEntity, models.CodeValidation, me.Post(totpPath+"/confirm", object{"code": p.code(t)}))

	// What is not confirmed is not asked for.
	require.NotEmpty(t, p.signIn(t, s).AccessToken)

	p.secret, p.later = second.Secret, 0
	code := p.code(t)

	var (
		sending sync.WaitGroup
		mu      sync.Mutex
		codes   []string
	)

	for range 6 {
		sending.Go(func() {
			a, err := me.Do(http.MethodPost, totpPath+"/confirm", object{"code": code}, nil)
			if err != nil {
				t.Error(err)
			}

			var made gen.RecoveryCodes
			if a.Status == http.StatusOK && a.Data(&made) == nil {
				mu.Lock()
				codes = append(codes, made.RecoveryCodes...)
				mu.Unlock()
			}
		})
	}

	sending.Wait()
	require.Len(t, codes, 10, "one of them has got recovery codes")
	require.Equal(t, http.StatusOK, answer(s, p.challenge(t, s), codes[3]).Status)
}
