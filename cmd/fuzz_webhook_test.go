package cmd

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/gateways/standardwebhook"
	"rihla/models"
)

// The ways in which a webhook of FuzzWebhook is signed. The order is part of the corpus: new ways come last.
const (
	signedNew     = iota // with the newest secret
	signedOld            // with the one on its way out
	signedAmong          // with a right signature among wrong ones
	signedElse           // with another channel's secret
	signedNot            // not at all
	signedBroken         // with the first character changed
	signedOther          // over another body
	signedFreely         // with the fuzzed id in place of a signature
	signedOtherID        // over another id
	waysOfSigning
)

const (
	// maxFreshSkew and minStaleSkew are seconds on both sides of the tolerance, 300, for the test takes a moment.
	maxFreshSkew = 290
	minStaleSkew = 310
	// webhookSendMax is the largest body that the fuzzer may send.
	webhookSendMax = 64 << 10
)

// FuzzWebhook sends any body on any channel, signed rightly or wrongly, at any time.
func FuzzWebhook(f *testing.F) {
	b := setupFuzz(f)

	for _, body := range webhookSeeds() {
		f.Add(uint8(0), uint8(signedNew), "evt_1", int32(0), []byte(body))
	}

	good := webhookBody("payment.succeeded", fuzzPayments()[0], "115.00")
	for way := range uint8(waysOfSigning) {
		f.Add(uint8(0), way, "evt_2", int32(0), []byte(good))
	}

	for i, p := range fuzzPayments()[:4] {
		f.Add(uint8(i), uint8(signedNew), "evt_3", int32(0), []byte(webhookBody("payment.failed", p, "115.00")))
	}

	for _, id := range []string{"", " ", "\xff", strings.Repeat("x", 255), strings.Repeat("س", 255), strings.Repeat("x", 256), "v1,", "v1,AAAA v1,"} {
		f.Add(uint8(0), uint8(signedNew), id, int32(0), []byte(good))
		f.Add(uint8(0), uint8(signedFreely), id, int32(0), []byte(good))
	}

	for _, age := range []int32{minStaleSkew, -minStaleSkew, maxFreshSkew, -maxFreshSkew, 1<<31 - 1, -1 << 31} {
		f.Add(uint8(0), uint8(signedNew), "evt_4", age, []byte(good))
	}

	f.Fuzz(func(t *testing.T, channel, way uint8, id string, seconds int32, body []byte) {
		age := int(seconds) // whose smallest value has no opposite in 32 bits
		h := hook{
			channel: models.Channels()[int(channel)%len(models.Channels())], way: int(way) % waysOfSigning,
			id: headerValue(id), at: time.Now().Add(-time.Duration(age) * time.Second), body: body,
		}
		if len(body) > webhookSendMax || age > maxFreshSkew && age < minStaleSkew || -age > maxFreshSkew && -age < minStaleSkew {
			return
		}

		b.exec(t, `ALTER TABLE webhook_events DISABLE TRIGGER USER; DELETE FROM webhook_events WHERE webhook_id NOT LIKE 'world-%';
			ALTER TABLE webhook_events ENABLE TRIGGER USER`)
		b.exec(t, "DELETE FROM incidents")

		before := b.fingerprint(t)
		answer := b.deliver(t, h)

		if h.way > signedAmong || h.id == "" || age >= minStaleSkew || -age >= minStaleSkew {
			require.Equal(t, models.CodeInvalidSignature, answer.Code(), "%s", answer.Body)
			require.Equal(t, before, b.fingerprint(t), "an unsigned webhook changes nothing")

			return
		}

		b.checkAuthentic(t, h, before, answer)
	})
}

// hook is one webhook.
type hook struct {
	channel models.Channel
	way     int
	id      string
	at      time.Time
	body    []byte
}

// checkAuthentic holds the answer to a webhook that is signed well against the tables.
func (b *fuzzBundle) checkAuthentic(t *testing.T, h hook, before string, answer harness.Answer) {
	t.Helper()

	// The library decides here as in the service whether a body is JSON; but a body that is no text at all is none.
	isJSON := json.Valid(h.body) && utf8.Valid(h.body)

	switch answer.Status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		require.Equal(t, isJSON, answer.Status == http.StatusUnprocessableEntity, "%s", answer.Body)
		require.Equal(t, before, b.fingerprint(t), "a webhook that cannot be read changes nothing")

		return
	case http.StatusOK, http.StatusNotFound:
		require.True(t, isJSON)
	default:
		require.Fail(t, "unexpected answer", "%d %s", answer.Status, answer.Body)
	}

	b.checkStored(t, h)

	after := b.fingerprint(t)
	require.NotEqual(t, before, after)

	again := b.deliver(t, h)
	require.Equal(t, answer.Status, again.Status, "%s, then %s", answer.Body, again.Body)
	require.Equal(t, after, b.fingerprint(t), "the second delivery changes nothing")

	if again.Status == http.StatusOK {
		receipt := object(t, again)
		require.Equal(t, true, receipt["received"])
		require.Equal(t, true, receipt["duplicate"])
	}
}

// checkStored finds the row of the event, and in it what the body said.
func (b *fuzzBundle) checkStored(t *testing.T, h hook) {
	t.Helper()

	var body struct {
		Type json.RawMessage `json:"type"`
	}

	require.NoError(t, json.Unmarshal(h.body, &body))

	var stored string

	require.NoError(t, b.db.QueryRowContext(t.Context(),
		"SELECT type FROM webhook_events WHERE channel = $1 AND webhook_id = $2", h.channel, h.id).Scan(&stored))

	var said string
	if json.Unmarshal(body.Type, &said) == nil && !bytes.ContainsAny(h.body, `\`) && bytes.Count(bytes.ToLower(h.body), []byte(`"type"`)) == 1 {
		require.Equal(t, said, stored)
	}
}

func (b *fuzzBundle) deliver(t *testing.T, h hook) harness.Answer {
	t.Helper()

	header := map[string]string{
		"Content-Type": "application/json", standardwebhook.HeaderID: h.id,
		standardwebhook.HeaderTimestamp: strconv.FormatInt(h.at.Unix(), 10),
	}
	if signature := h.signature(t); signature != "" {
		header[standardwebhook.HeaderSignature] = signature
	}

	return b.call(t, http.MethodPost, "/api/v1/payments/"+h.channel.Path(), "", h.body, header)
}

func (h hook) signature(t *testing.T) string {
	t.Helper()

	secrets := fuzzSecrets(h.channel)
	newest, oldest := sign(t, secrets[0], h.id, h.at, h.body), sign(t, secrets[1], h.id, h.at, h.body)

	switch h.way {
	case signedNew:
		return newest
	case signedOld:
		return oldest
	case signedAmong:
		return "v1,AAAA v2,AAAA v1a,AAAA " + newest
	case signedElse:
		other := models.ChannelWalletB
		if h.channel == other {
			other = models.ChannelGatewayA
		}

		return sign(t, fuzzSecrets(other)[0], h.id, h.at, h.body)
	case signedBroken:
		changed := []byte(newest)
		changed[len("v1,")] ^= 1 // another character: "A" and "@", "B" and "C"

		return string(changed)
	case signedOther:
		return sign(t, secrets[0], h.id, h.at, append([]byte(" "), h.body...))
	case signedFreely:
		return h.id
	case signedOtherID:
		return sign(t, secrets[0], h.id+"x", h.at, h.body)
	default:
		return ""
	}
}

func sign(t *testing.T, secret, id string, at time.Time, body []byte) string {
	t.Helper()

	secrets, err := standardwebhook.ParseSecrets(secret)
	require.NoError(t, err)

	signature, err := standardwebhook.Sign(secrets, id, at, body)
	require.NoError(t, err)

	return signature
}

// headerValue is what of s can travel in a header: no control characters, and none of the spaces that HTTP takes away.
func headerValue(s string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}

		return r
	}, s), " ")
}

func webhookBody(kind string, p fuzzPayment, amount string) string {
	return `{"type":"` + kind + `","timestamp":"2026-11-21T09:30:00Z","data":{"checkout_id":"` + p.reference +
		`","merchant_reference":"` + p.id().String() + `","amount":` + amount + `,"currency":"SAR","payment_method":"` +
		string(p.method) + `","result_code":"000.000"}}`
}

// webhookSeeds are bodies that went wrong somewhere once, here or elsewhere.
func webhookSeeds() []string {
	card, paid, failed := fuzzPayments()[0], fuzzPayments()[4], fuzzPayments()[5]
	good := webhookBody("payment.succeeded", card, "115.00")
	refund := `{"type":"refund.succeeded","timestamp":"2026-11-21T09:30:00Z","data":{"checkout_id":"cs_paid","merchant_reference":"` +
		fuzzRefund.String() + `","amount":15.00,"currency":"SAR","payment_method":"credit_card","result_code":"","refund_id":"re_1"}}`
	change := func(old, replacement string) string { return strings.Replace(good, old, replacement, 1) }

	return []string{
		good, refund, strings.Replace(refund, "succeeded", "failed", 1),
		webhookBody("payment.expired", card, "115.00"), webhookBody("payment.succeeded", paid, "115.00"),
		webhookBody("payment.failed", paid, "115.00"), webhookBody("payment.succeeded", failed, "115.00"),
		webhookBody("invoice.created", card, "115.00"), `{"type":"invoice.created"}`, `{"type":"invoice.created","data":7}`,
		webhookBody("payment.succeeded", card, "1.00"), webhookBody("payment.succeeded", card, "0"),
		webhookBody("payment.succeeded", card, "-0.01"), webhookBody("payment.succeeded", card, "1e400000000"),
		webhookBody("payment.succeeded", card, "99999999999999.99"), webhookBody("payment.succeeded", card, "999999999999.99"),
		webhookBody("payment.succeeded", card, "1e12"), webhookBody("payment.succeeded", card, "0.005"),
		webhookBody("payment.succeeded", card, `"115.00"`), webhookBody("payment.succeeded", card, "null"),
		change(`"SAR"`, `"usd"`), change(`"SAR"`, `"S\u0000R"`), change(`"cs_card"`, `"cs_\u0000"`), change(`"cs_card"`, `"cs_nobody"`),
		change(`"000.000"`, `"\ud800"`), change(`"000.000"`, `"\ud83d\ude00"`), change(`"000.000"`, `"`+strings.Repeat("ق", 255)+`"`),
		change(`"000.000"`, `"000","failure_reason":"`+strings.Repeat("long ", 4000)+`"`),
		change(`"000.000"`, `"000","more":`+strings.Repeat("[", 70)+strings.Repeat("]", 70)),
		change(`"000.000"`, `"000","more":`+strings.Repeat("[", 10001)+strings.Repeat("]", 10001)),
		change(`2026-11-21T09:30:00Z`, `0000-01-01T00:00:00Z`), change(`2026-11-21T09:30:00Z`, `9999-12-31T23:59:59-23:59`),
		strings.Replace(webhookBody("invoice.created", card, "1"), "2026", "0000", 1), change(`2026-11-21T09:30:00Z`, `9999-12-31T23:59:59.999999999+23:59`),
		change(`2026-11-21T09:30:00Z`, `2026-11-21T09:30:00-23:59`), change(`"type"`, `"Type"`), change(`"data"`, `"data":null,"data"`),
		change(card.id().String(), strings.ToUpper(card.id().String())), change(card.id().String(), "urn:uuid:"+card.id().String()),
		change(card.id().String(), "00000000-0000-0000-0000-000000000000"), change("credit_card", "wallet_b"), change("credit_card", ""),
		``, ` `, `{}`, `[]`, `null`, `7`, `"x"`, `{`, "\xff", "{\"type\":\"\xff\"}", `{"type":null}`, `{"type":"payment.succeeded"}`,
		"\ufeff" + good, good + good, good + "\n", "[" + good + "]", `{"\u0000":1,` + good[1:],
	}
}
