package gatewaytest

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/models"
)

// Webhooks is the verifier of a driver, and the hand that signs as its company does.
type Webhooks struct {
	// Verifier reads messages that are signed by one of the secrets.
	Verifier func(t *testing.T, secrets ...string) gateways.WebhookVerifier
	Secrets  [2]string // the present and the next one
	// Paid is the company's message that a checkout was paid, signed at a moment.
	Paid func(t *testing.T, secret string, c gateways.Checkout, at time.Time) (http.Header, []byte)
	// Unknown is a message of a type that the service does not know.
	Unknown func(t *testing.T, secret string, at time.Time) (http.Header, []byte)
	// Proof are the headers that prove the body; empty where the proof is in the body.
	Proof []string
	// Signed: the proof is about the whole body, so that no byte of it can be changed. Where it is not, what a message says is
	// only a hint (Event.Hint), and the gateway is asked.
	Signed bool
	// Ages: a message that was signed long ago is refused.
	Ages bool
	// Kept is what Event.Body has of a genuine body, where the body itself has the secret; nil: every byte.
	Kept func(body []byte, secret string) string
}

// RunWebhooks tests the verifier.
func RunWebhooks(t *testing.T, w Webhooks) {
	t.Helper()

	for name, test := range map[string]func(*testing.T, Webhooks){
		"a genuine message":               testGenuine,
		"an unknown type":                 testUnknownType,
		"another secret":                  testForged,
		"no proof":                        testUnsigned,
		"every byte of the body":          testMutatedBody,
		"every header of the proof":       testMutatedProof,
		"rotation of secrets":             testRotation,
		"an old message, and a later one": testAge,
		"a body that is no message":       testForeignBody,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, w)
		})
	}
}

func (w Webhooks) checkout() gateways.Checkout {
	now := time.Now().UTC().Truncate(time.Second)

	return gateways.Checkout{
		ID: "co_1", MerchantReference: uuid.New(), Status: gateways.CheckoutPaid, Amount: models.MustMoney("1150.55"),
		Currency: models.Currency, PaidAt: &now,
	}
}

func testGenuine(t *testing.T, w Webhooks) {
	t.Helper()

	c, now := w.checkout(), time.Now()
	header, body := w.Paid(t, w.Secrets[0], c, now)

	e, err := w.Verifier(t, w.Secrets[0]).Verify(header, body, now)
	require.NoError(t, err)
	require.NotEmpty(t, e.ID)
	require.LessOrEqual(t, len(e.ID), 255)
	require.Equal(t, w.kept(body), e.Body)
	require.Equal(t, !w.Signed, e.Hint)
	require.NotContains(t, e.Body, w.Secrets[0], "it is kept for good")
	require.NotContains(t, e.Signature, w.Secrets[0])
	require.WithinDuration(t, now, e.Timestamp, time.Minute)

	if w.Signed {
		require.Equal(t, models.EventPaymentSucceeded, e.Type)
		require.Equal(t, c.MerchantReference, e.MerchantReference)
		require.Equal(t, c.ID, e.CheckoutID)
		require.True(t, c.Amount.Equal(e.Amount))
		require.True(t, models.SameCurrency(c.Currency, e.Currency))
	} else {
		require.True(t, e.MerchantReference == c.MerchantReference || e.CheckoutID == c.ID, "one of the two says what is asked about")
	}

	again, err := w.Verifier(t, w.Secrets[0]).Verify(header, body, now.Add(time.Second))
	require.NoError(t, err)
	require.Equal(t, e.ID, again.ID, "a repeated message has the same id")
}

func (w Webhooks) kept(body []byte) string {
	if w.Kept == nil {
		return string(body)
	}

	return w.Kept(body, w.Secrets[0])
}

func testUnknownType(t *testing.T, w Webhooks) {
	t.Helper()

	now := time.Now()
	header, body := w.Unknown(t, w.Secrets[0], now)

	e, err := w.Verifier(t, w.Secrets[0]).Verify(header, body, now)
	require.NoError(t, err, "what is signed is kept, even if it is not understood")
	require.NotEmpty(t, e.ID)
	require.NotEmpty(t, e.Type)

	for _, known := range models.EventTypes() {
		require.NotEqual(t, known, e.Type)
	}
}

func (w Webhooks) requireRefused(t *testing.T, header http.Header, body []byte, now time.Time, what string) {
	t.Helper()

	_, err := w.Verifier(t, w.Secrets[0]).Verify(header, body, now)
	require.Error(t, err, what)
	require.Equal(t, models.CodeInvalidSignature, models.CodeOf(err), "%s: %v", what, err)
	require.NotContains(t, err.Error(), w.Secrets[0], what)
}

func testForged(t *testing.T, w Webhooks) {
	t.Helper()

	now := time.Now()
	header, body := w.Paid(t, w.Secrets[1], w.checkout(), now)
	w.requireRefused(t, header, body, now, "signed by a stranger")
}

func testUnsigned(t *testing.T, w Webhooks) {
	t.Helper()

	now := time.Now()
	header, body := w.Paid(t, w.Secrets[0], w.checkout(), now)

	for _, name := range w.Proof {
		without := header.Clone()
		without.Del(name)
		w.requireRefused(t, without, body, now, "without "+name)

		empty := header.Clone()
		empty.Set(name, "")
		w.requireRefused(t, empty, body, now, "with an empty "+name)
	}

	if len(w.Proof) == 0 {
		w.requireRefused(t, header, []byte(strings.ReplaceAll(string(body), w.Secrets[0], "")), now, "with an empty token")
	}
}

// testMutatedBody changes every byte. Where the body is not signed, the message is refused or says the same about whom to ask.
func testMutatedBody(t *testing.T, w Webhooks) {
	t.Helper()

	now := time.Now()
	header, body := w.Paid(t, w.Secrets[0], w.checkout(), now)

	for i := range body {
		for _, change := range []byte{1, 0x20, 0x80} {
			forged := append([]byte(nil), body...)
			forged[i] ^= change

			if w.Signed {
				w.requireRefused(t, header, forged, now, "a changed byte")

				continue
			}

			if e, err := w.Verifier(t, w.Secrets[0]).Verify(header, forged, now); err == nil {
				require.True(t, e.Hint, "it is nothing but a reason to ask")
			}
		}
	}

	if w.Signed {
		w.requireRefused(t, header, append(body, ' '), now, "a byte more")
		w.requireRefused(t, header, body[:len(body)-1], now, "a byte less")
	}
}

func testMutatedProof(t *testing.T, w Webhooks) {
	t.Helper()

	now := time.Now()
	header, body := w.Paid(t, w.Secrets[0], w.checkout(), now)

	for _, name := range w.Proof {
		value := header.Get(name)

		for i := range len(value) {
			forged := header.Clone()
			forged.Set(name, value[:i]+string(value[i]^1)+value[i+1:])
			w.requireRefused(t, forged, body, now, name+": "+forged.Get(name))
		}
	}
}

func testRotation(t *testing.T, w Webhooks) {
	t.Helper()

	now := time.Now()

	for _, secret := range w.Secrets {
		header, body := w.Paid(t, secret, w.checkout(), now)
		_, err := w.Verifier(t, w.Secrets[1], w.Secrets[0]).Verify(header, body, now)
		require.NoError(t, err, "both are good while one replaces the other")
	}

	header, body := w.Paid(t, w.Secrets[0], w.checkout(), now)
	_, err := w.Verifier(t, w.Secrets[1]).Verify(header, body, now)
	require.Equal(t, models.CodeInvalidSignature, models.CodeOf(err), "the old one is out of use")
}

func testAge(t *testing.T, w Webhooks) {
	t.Helper()

	now := time.Now()

	for what, at := range map[string]time.Time{"an hour old": now.Add(-time.Hour), "of the next hour": now.Add(time.Hour)} {
		header, body := w.Paid(t, w.Secrets[0], w.checkout(), at)

		if w.Ages {
			w.requireRefused(t, header, body, now, what)

			continue
		}

		_, err := w.Verifier(t, w.Secrets[0]).Verify(header, body, now)
		require.NoError(t, err, "the company gives no time of signing: its id and the state decide")
	}
}

func testForeignBody(t *testing.T, w Webhooks) {
	t.Helper()

	now := time.Now()
	header, _ := w.Paid(t, w.Secrets[0], w.checkout(), now)

	for _, body := range []string{"", "{}", "null", "[]", "42", "<html>", `{"type":null}`, "\xff\xfe", strings.Repeat("[", 10_000)} {
		w.requireRefused(t, header, []byte(body), now, body[:min(len(body), 20)])
	}
}
