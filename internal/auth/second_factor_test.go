package auth

import (
	"context"
	"encoding/base32"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/models"
)

// TestTOTPVectors are those of RFC 6238, appendix B, whose codes have 8 digits; the last 6 of them are ours.
func TestTOTPVectors(t *testing.T) {
	t.Parallel()

	secret := base32.StdEncoding.EncodeToString([]byte("12345678901234567890"))

	for at, code := range map[int64]string{
		59: "94287082", 1111111109: "07081804", 1111111111: "14050471", 1234567890: "89005924", 2000000000: "69279037", 20000000000: "65353130",
	} {
		short, now := code[2:], time.Unix(at, 0)

		step, err := TOTPStep(secret, short, now)
		require.NoError(t, err)
		require.Equal(t, at/30, step)

		step, err = TOTPStep(secret, short[:3]+" "+short[3:], now)
		require.NoError(t, err)
		require.Equal(t, at/30, step, "as apps show it")

		// Clocks may differ by one step, and no more; the step is the code's, not the clock's.
		for _, late := range []time.Duration{-30 * time.Second, 30 * time.Second} {
			step, err = TOTPStep(secret, short, now.Add(late))
			require.NoError(t, err)
			require.Equal(t, at/30, step)

			step, err = TOTPStep(secret, short, now.Add(3*late))
			require.NoError(t, err)
			require.Zero(t, step)
		}
	}

	for _, code := range []string{"", "28708", "2870822", "94287082", "abcdef", "٢٨٧٠٨٣"} {
		step, err := TOTPStep(secret, code, time.Unix(59, 0))
		require.NoError(t, err)
		require.Zero(t, step, code)
	}

	// A right code is right in the digits of the keyboard that it was typed on, and with what was pasted around it.
	for _, code := range []string{"٢٨٧٠٨٢", "۲۸۷۰۸۲", "٢٨٧ ٠٨٢", "\u200e287\u00a0082\u200f", "287\u2011082", "２８７０８２"} {
		step, err := TOTPStep(secret, code, time.Unix(59, 0))
		require.NoError(t, err)
		require.Equal(t, int64(1), step, code)
	}

	require.Equal(t, HashRecoveryCode("ABCD-0123-EFGH-4567"), HashRecoveryCode("abcd–٠١٢٣ efgh\u200e-۴۵۶۷"))
}

func TestNewTOTP(t *testing.T) {
	t.Parallel()

	one, err := NewTOTP("someone+x@rihla.test")
	require.NoError(t, err)
	other, err := NewTOTP("someone+x@rihla.test")
	require.NoError(t, err)
	require.NotEqual(t, one.Secret, other.Secret)

	secret, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(one.Secret)
	require.NoError(t, err)
	require.Len(t, secret, 20)
	require.True(t, strings.HasPrefix(one.URI, "otpauth://totp/Rihla:someone"), one.URI)
	require.True(t, strings.HasPrefix(one.QRCode, "data:image/png;base64,iVBOR"))
}

func TestRecoveryCodes(t *testing.T) {
	t.Parallel()

	codes, hashes := NewRecoveryCodes()
	require.Len(t, codes, 10)

	seen := map[string]bool{}

	for i, code := range codes {
		require.Regexp(t, `^([0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}$`, code)
		require.False(t, seen[code])
		require.Equal(t, hashes[i], HashRecoveryCode(code))
		require.Equal(t, hashes[i], HashRecoveryCode(" "+strings.ToLower(strings.ReplaceAll(code, "-", " "))))

		seen[code] = true
	}
}

func TestSealer(t *testing.T) {
	t.Parallel()

	old, recent := strings.Repeat("A", 43)+"=", strings.Repeat("B", 42)+"A="
	account, ring := uuid.New(), newTestKeyring(t, newKeyPEM(t))

	first, err := NewSealer([]string{old}, ring)
	require.NoError(t, err)

	sealed := first.Seal(account, "secret")
	require.NotContains(t, string(sealed), "secret")
	require.NotEqual(t, sealed, first.Seal(account, "secret"), "each has a nonce of its own")

	rotated, err := NewSealer([]string{recent, old}, ring)
	require.NoError(t, err)

	for _, s := range []*Sealer{first, rotated} {
		secret, _, err := s.Open(account, sealed)
		require.NoError(t, err)
		require.Equal(t, "secret", secret)
	}

	_, _, err = rotated.Open(uuid.New(), sealed)
	require.Error(t, err, "of another account")

	sealed[len(sealed)-1] ^= 1
	_, _, err = rotated.Open(account, sealed)
	require.Error(t, err, "changed")
	_, _, err = rotated.Open(account, sealed[:5])
	require.Error(t, err, "cut")

	_, _, err = first.Open(account, rotated.Seal(account, "secret"))
	require.Error(t, err, "a key that it does not have")

	for _, bad := range []string{"", "short", strings.Repeat("!", 44)} {
		_, err = NewSealer([]string{bad}, ring)
		require.Error(t, err)
	}
}

// TestSealerOutlivesItsKeys goes the whole way of keys: derived ones, another signing key in front, keys of their own, and the derived
// ones gone. At each step what was sealed before is opened, and is sealed anew under the first key, which is all that the next step needs.
func TestSealerOutlivesItsKeys(t *testing.T) {
	t.Parallel()

	account, one, two, three := uuid.New(), newKeyPEM(t), newKeyPEM(t), newKeyPEM(t)
	own, next := strings.Repeat("A", 43)+"=", strings.Repeat("B", 42)+"A="

	sealer := func(ring *Keyring, keys ...string) *Sealer {
		s, err := NewSealer(keys, ring)
		require.NoError(t, err)

		return s
	}

	sealed := sealer(newTestKeyring(t, one)).Seal(account, "secret")

	for _, s := range []*Sealer{
		sealer(newTestKeyring(t, two, one)), sealer(newTestKeyring(t, two), own), sealer(newTestKeyring(t, three), next, own),
		sealer(newTestKeyring(t, three), next),
	} {
		secret, again, err := s.Open(account, sealed)
		require.NoError(t, err)
		require.Equal(t, "secret", secret)

		if again != nil {
			sealed = again
		}

		_, again, err = s.Open(account, sealed)
		require.NoError(t, err)
		require.Nil(t, again, "sealed under the first key")
	}
}

func TestSaysSecondFactor(t *testing.T) {
	t.Parallel()

	for _, yes := range []struct {
		methods []string
		class   string
	}{
		{methods: []string{"pwd", "otp"}},
		{methods: []string{"mfa"}},
		{methods: []string{"hwk", "pin"}},
		{methods: []string{"face", "swk"}},
		{methods: []string{"otp"}, class: "aal2"},
		{class: "http://schemas.openid.net/pape/policies/2007/06/multi-factor/mfa"},
		{class: "https://refeds.org/profile/mfa"},
		{class: "aal2"},
	} {
		require.True(t, SaysSecondFactor(yes.methods, yes.class), "%v", yes)
	}

	for _, no := range []struct {
		methods []string
		class   string
	}{
		{},
		{methods: []string{"otp"}},
		{methods: []string{"swk"}},
		{methods: []string{"hwk", "user"}},
		{methods: []string{"otp", "otp"}},
		{methods: []string{"otp", "swk"}},
		{methods: []string{"pwd", "pin"}},
		{methods: []string{"pwd"}},
		{methods: []string{"pwd", "rba", "sms-not"}, class: "0"},
		{class: "aal1"},
		{class: "urn:mfa-not"},
	} {
		require.False(t, SaysSecondFactor(no.methods, no.class), "%v", no)
	}
}

// TestGateAsksForASecondFactor is what each state of an account and of its token means for a role that must have a second factor.
func TestGateAsksForASecondFactor(t *testing.T) {
	t.Parallel()

	user, session := uuid.New(), uuid.New()
	strict, lenient := models.RoleFinanceAdmin, models.RoleSupportAgent

	for name, tt := range map[string]struct {
		p    Principal
		now  AccountStatus
		want models.Code
	}{
		"has one":             {Principal{Role: strict}, AccountStatus{Role: strict, SecondFactor: true}, ""},
		"has none":            {Principal{Role: strict}, AccountStatus{Role: strict}, models.CodeSecondFactorNeeded},
		"role needs none":     {Principal{Role: lenient}, AccountStatus{Role: lenient}, ""},
		"the issuer's counts": {Principal{Role: strict, IssuerFactor: true}, AccountStatus{Role: strict}, ""},
		"external without":    {Principal{Role: strict, External: true}, AccountStatus{Role: strict, SecondFactor: true}, models.CodeSecondFactorNeeded},
		"external with":       {Principal{Role: strict, External: true, IssuerFactor: true}, AccountStatus{Role: strict}, ""},
		"session over":        {Principal{Role: lenient}, AccountStatus{Role: lenient, SessionOver: true}, models.CodeUnauthenticated},
		"over before enrol":   {Principal{Role: strict}, AccountStatus{Role: strict, SessionOver: true}, models.CodeUnauthenticated},
	} {
		gate := NewGate(nil, nil, strict)
		tt.p.UserID, tt.p.SessionID = user, session

		err := gate.Judge(tt.p, tt.now, nil)
		if tt.want == "" {
			require.NoError(t, err, name)
		} else {
			require.Equal(t, tt.want, models.CodeOf(err), name)
		}
	}
}

// TestGateLetsEnrol: who must have a second factor and has none is let in, to get one; the session is asked about.
func TestGateLetsEnrol(t *testing.T) {
	t.Parallel()

	b := newTokenBundle(t)
	p := Principal{UserID: uuid.New(), Role: models.RoleAdmin, SessionID: uuid.New()}

	token, _, err := b.issuer.Issue(p)
	require.NoError(t, err)

	verifier, err := NewVerifier(t.Context(), b.keys, testTokens(), slog.New(slog.DiscardHandler))
	require.NoError(t, err)

	gate := NewGate(verifier, func(_ context.Context, user, session uuid.UUID) (AccountStatus, error) {
		require.Equal(t, []uuid.UUID{p.UserID, p.SessionID}, []uuid.UUID{user, session})

		return AccountStatus{Role: p.Role}, nil
	}, models.RoleAdmin)

	got, err := gate.Verify(t.Context(), token)
	require.NoError(t, err)
	require.True(t, got.MustEnrol)
	require.Equal(t, p.SessionID, got.SessionID)
}
