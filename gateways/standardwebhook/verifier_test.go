package standardwebhook_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/gateways/standardwebhook"
	"rihla/internal/testkit/cputime"
	"rihla/models"
)

var (
	secretOld   = secretOf("o")
	secretNew   = secretOf("n")
	secretOther = secretOf("x")

	now = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
)

const reference = "0191f3a0-4b5c-7d6e-8f90-a1b2c3d4e5f6"

func secretOf(letter string) string {
	return "whsec_" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat(letter, 24)))
}

func secrets(tb testing.TB, list ...string) []standardwebhook.Secret {
	tb.Helper()

	parsed, err := standardwebhook.ParseSecrets(strings.Join(list, ","))
	require.NoError(tb, err)

	return parsed
}

func verifier(tb testing.TB, list ...string) *standardwebhook.Verifier {
	tb.Helper()

	v, err := standardwebhook.New(secrets(tb, list...))
	require.NoError(tb, err)

	return v
}

func signed(tb testing.TB, id string, at time.Time, body string, list ...string) http.Header {
	tb.Helper()

	signature, err := standardwebhook.Sign(secrets(tb, list...), id, at, []byte(body))
	require.NoError(tb, err)

	h := http.Header{}
	h.Set(standardwebhook.HeaderID, id)
	h.Set(standardwebhook.HeaderTimestamp, strconv.FormatInt(at.Unix(), 10))
	h.Set(standardwebhook.HeaderSignature, signature)

	return h
}

// body is a payment.succeeded whose data fields are replaced (or, with an empty value, left out).
func body(change map[string]string) string {
	fields := [][2]string{
		{"checkout_id", `"co_1"`},
		{"merchant_reference", `"` + reference + `"`},
		{"amount", "1150.00"},
		{"currency", `"SAR"`},
		{"payment_method", `"credit_card"`},
		{"result_code", `"APPROVED"`},
		{"failure_reason", ""},
		{"refund_id", ""},
	}

	data := make([]string, 0, len(fields))

	for _, field := range fields {
		value, changed := change[field[0]]
		if !changed {
			value = field[1]
		}

		if value != "" {
			data = append(data, fmt.Sprintf("%q:%s", field[0], value))
		}
	}

	kind, at := `"payment.succeeded"`, `"2026-11-21T08:59:58.5Z"`
	if v, ok := change["type"]; ok {
		kind = v
	}

	if v, ok := change["timestamp"]; ok {
		at = v
	}

	return fmt.Sprintf(`{"type":%s,"timestamp":%s,"data":{%s},"extra":{"any":[1,"x"]}}`, kind, at, strings.Join(data, ","))
}

func TestVerify(t *testing.T) {
	t.Parallel()

	b := body(map[string]string{"failure_reason": "null"})
	event, err := verifier(t, secretNew).Verify(signed(t, "evt_1", now, b, secretNew), []byte(b), now)
	require.NoError(t, err)
	require.Equal(t, "evt_1", event.ID)
	require.Equal(t, models.EventPaymentSucceeded, event.Type)
	require.Equal(t, time.Date(2026, 11, 21, 8, 59, 58, 5e8, time.UTC), event.Timestamp)
	require.Equal(t, "co_1", event.CheckoutID)
	require.Equal(t, reference, event.MerchantReference.String())
	require.Equal(t, "1150.00", event.Amount.String())
	require.Equal(t, "SAR", event.Currency)
	require.Equal(t, models.MethodCreditCard, event.Method)
	require.Equal(t, "APPROVED", event.ResultCode)
	require.Empty(t, event.FailureReason)
}

// TestAmountsHaveManySpellings: JSON knows no two numbers of one value.
func TestAmountsHaveManySpellings(t *testing.T) {
	t.Parallel()

	for _, spelling := range []string{"1150", "1150.0", "1150.00", "1150.000", "1.15e3", "1.15E+3", "115000e-2", "0.115e4", "11500000000e-7"} {
		b := body(map[string]string{"amount": spelling})
		event, err := verifier(t, secretNew).Verify(signed(t, "evt_1", now, b, secretNew), []byte(b), now)
		require.NoError(t, err, spelling)
		require.Equal(t, "1150.00", event.Amount.String(), spelling)
	}
}

func TestVerifySignature(t *testing.T) {
	t.Parallel()

	b := body(nil)

	for name, test := range map[string]struct {
		header  http.Header
		accepts []string
		good    bool
	}{
		"only secret":                      {signed(t, "e", now, b, secretNew), []string{secretNew}, true},
		"rotation: signed with the old":    {signed(t, "e", now, b, secretOld), []string{secretNew, secretOld}, true},
		"rotation: signed with both":       {signed(t, "e", now, b, secretNew, secretOld), []string{secretOld}, true},
		"old secret withdrawn":             {signed(t, "e", now, b, secretOld), []string{secretNew}, false},
		"another channel's secret":         {signed(t, "e", now, b, secretOther), []string{secretNew, secretOld}, false},
		"five minutes old":                 {signed(t, "e", now.Add(-5*time.Minute), b, secretNew), []string{secretNew}, true},
		"older than five minutes":          {signed(t, "e", now.Add(-5*time.Minute-time.Second), b, secretNew), []string{secretNew}, false},
		"more than five minutes ahead":     {signed(t, "e", now.Add(5*time.Minute+time.Second), b, secretNew), []string{secretNew}, false},
		"no headers":                       {http.Header{}, []string{secretNew}, false},
		"no id":                            {without(signed(t, "e", now, b, secretNew), standardwebhook.HeaderID), []string{secretNew}, false},
		"no timestamp":                     {without(signed(t, "e", now, b, secretNew), standardwebhook.HeaderTimestamp), []string{secretNew}, false},
		"no signature":                     {without(signed(t, "e", now, b, secretNew), standardwebhook.HeaderSignature), []string{secretNew}, false},
		"the signature of another id":      {with(signed(t, "e", now, b, secretNew), standardwebhook.HeaderID, "f"), []string{secretNew}, false},
		"the signature of another body":    {signed(t, "e", now, b+" ", secretNew), []string{secretNew}, false},
		"a timestamp that was not signed":  {with(signed(t, "e", now, b, secretNew), standardwebhook.HeaderTimestamp, strconv.FormatInt(now.Unix()+1, 10)), []string{secretNew}, false},
		"a timestamp that is no number":    {with(signed(t, "e", now, b, secretNew), standardwebhook.HeaderTimestamp, "now"), []string{secretNew}, false},
		"a timestamp at the end of int64":  {signed(t, "e", time.Unix(1<<62, 0), b, secretNew), []string{secretNew}, false},
		"another version of the signature": {with(signed(t, "e", now, b, secretNew), standardwebhook.HeaderSignature, "v2,AAAA"), []string{secretNew}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := verifier(t, test.accepts...).Verify(test.header, []byte(b), now)
			if test.good {
				require.NoError(t, err)
			} else {
				require.Equal(t, models.CodeInvalidSignature, models.CodeOf(err))
			}
		})
	}
}

func without(h http.Header, name string) http.Header {
	h.Del(name)

	return h
}

func with(h http.Header, name, value string) http.Header {
	h.Set(name, value)

	return h
}

func TestSignatureIsCheckedFirst(t *testing.T) {
	t.Parallel()

	_, err := verifier(t, secretNew).Verify(signed(t, "e", now, "not json", secretOther), []byte("not json"), now)
	require.Equal(t, models.CodeInvalidSignature, models.CodeOf(err))
}

func TestVerifyBody(t *testing.T) {
	t.Parallel()

	deep := strings.Repeat("[", 100) + strings.Repeat("]", 100)

	for name, test := range map[string]struct {
		body  string
		field string // in details; empty means the event is good
	}{
		"every payment method":          {body(map[string]string{"payment_method": `"bill_payment"`}), ""},
		"any currency":                  {body(map[string]string{"currency": `"USD"`}), ""},
		"one decimal":                   {body(map[string]string{"amount": "1150.5"}), ""},
		"result_code may be empty":      {body(map[string]string{"result_code": `""`}), ""},
		"refund with the gateway's id":  {body(map[string]string{"type": `"refund.succeeded"`, "refund_id": `"re_1"`}), ""},
		"no checkout_id":                {body(map[string]string{"checkout_id": ""}), "data.checkout_id"},
		"empty checkout_id":             {body(map[string]string{"checkout_id": `""`}), "data.checkout_id"},
		"checkout_id of a wrong type":   {body(map[string]string{"checkout_id": "1"}), "data.checkout_id"},
		"long checkout_id":              {body(map[string]string{"checkout_id": `"` + strings.Repeat("x", 256) + `"`}), "data.checkout_id"},
		"no merchant_reference":         {body(map[string]string{"merchant_reference": ""}), "data.merchant_reference"},
		"merchant_reference no UUID":    {body(map[string]string{"merchant_reference": `"42"`}), "data.merchant_reference"},
		"merchant_reference in braces":  {body(map[string]string{"merchant_reference": `"{` + reference + `}"`}), "data.merchant_reference"},
		"no amount":                     {body(map[string]string{"amount": ""}), "data.amount"},
		"null amount":                   {body(map[string]string{"amount": "null"}), "data.amount"},
		"three decimals":                {body(map[string]string{"amount": "1150.005"}), "data.amount"},
		"amount as text":                {body(map[string]string{"amount": `"1150.00"`}), "data.amount"},
		"amount with exponent":          {body(map[string]string{"amount": "1.15e3"}), ""},
		"amount with a lower exponent":  {body(map[string]string{"amount": "115000E-2"}), ""},
		"amount with more zeros":        {body(map[string]string{"amount": "1150.000000"}), ""},
		"amount without decimals":       {body(map[string]string{"amount": "1150"}), ""},
		"a third decimal in exponents":  {body(map[string]string{"amount": "1150005e-3"}), "data.amount"},
		"a large amount":                {body(map[string]string{"amount": "1e12"}), "data.amount"},
		"a huge amount":                 {body(map[string]string{"amount": "1e1000"}), "data.amount"},
		"a tiny amount":                 {body(map[string]string{"amount": "1e-1000"}), "data.amount"},
		"negative amount":               {body(map[string]string{"amount": "-1.00"}), "data.amount"},
		"no currency":                   {body(map[string]string{"currency": ""}), "data.currency"},
		"currency of four letters":      {body(map[string]string{"currency": `"SARS"`}), "data.currency"},
		"unknown method":                {body(map[string]string{"payment_method": `"cash"`}), "data.payment_method"},
		"no result_code":                {body(map[string]string{"result_code": ""}), "data.result_code"},
		"failure_reason of wrong type":  {body(map[string]string{"failure_reason": "{}"}), "data.failure_reason"},
		"refund_id of a wrong type":     {body(map[string]string{"refund_id": "true"}), "data.refund_id"},
		"no RFC 3339":                   {body(map[string]string{"timestamp": `"yesterday"`}), "timestamp"},
		"timestamp as number":           {body(map[string]string{"timestamp": "1"}), "timestamp"},
		"type of a wrong type":          {body(map[string]string{"type": "1"}), "type"},
		"NUL in a field":                {body(map[string]string{"result_code": `"A\u0000B"`}), "data.result_code"},
		"half a surrogate pair":         {body(map[string]string{"failure_reason": `"\ud83d"`}), "body"},
		"the wrong half":                {body(map[string]string{"failure_reason": `"\ude00"`}), "body"},
		"a whole surrogate pair":        {body(map[string]string{"failure_reason": `"\ud83d\ude00"`}), ""},
		"an escaped backslash before u": {body(map[string]string{"failure_reason": `"\\ud83d"`}), ""},
		"no data":                       {`{"type":"payment.succeeded","timestamp":"2026-11-21T09:00:00Z"}`, "data"},
		"data is a list":                {`{"type":"payment.succeeded","timestamp":"2026-11-21T09:00:00Z","data":[]}`, "data"},
		"a list":                        {`[]`, "body"},
		"null":                          {`null`, "body"},
		"NUL in an unknown field":       {strings.Replace(body(nil), `"x"`, `"\u0000"`, 1), "extra.any.1"},
		"NUL in an unknown field name":  {strings.Replace(body(nil), `"any"`, `"\u0000"`, 1), "extra"},
		"a number no database holds":    {strings.Replace(body(nil), `[1,`, `[1e999999,`, 1), "extra.any.0"},
		"nested too deeply":             {strings.Replace(body(nil), `[1,`, `[`+deep+`,`, 1), "body"},
		"unknown type, nothing else":    {`{"type":"dispute.opened"}`, ""},
		"unknown type, NUL":             {`{"type":"dispute.opened","note":"\u0000"}`, "note"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := verifier(t, secretNew).Verify(signed(t, "e", now, test.body, secretNew), []byte(test.body), now)
			if test.field == "" {
				require.NoError(t, err)

				return
			}

			require.Equal(t, models.CodeValidation, models.CodeOf(err))

			domain, ok := errors.AsType[*models.Error](err)
			require.True(t, ok)
			require.Contains(t, domain.Details, test.field)
		})
	}
}

func TestVerifyNotJSON(t *testing.T) {
	t.Parallel()

	for _, b := range []string{"", "hello", `{"type":`, `{} {}`, "{\"type\":\"\xff\"}"} {
		_, err := verifier(t, secretNew).Verify(signed(t, "e", now, b, secretNew), []byte(b), now)
		require.Equal(t, models.CodeMalformedRequest, models.CodeOf(err), "%q", b)
	}
}

func TestVerifyUnknownTypeKeepsWhatParses(t *testing.T) {
	t.Parallel()

	b := body(map[string]string{"type": `"dispute.opened"`, "amount": `"much"`})
	event, err := verifier(t, secretNew).Verify(signed(t, "e", now, b, secretNew), []byte(b), now)
	require.NoError(t, err)
	require.Equal(t, models.EventType("dispute.opened"), event.Type)
	require.Equal(t, "co_1", event.CheckoutID)
	require.True(t, event.Amount.IsZero())
}

func TestVerifyLongID(t *testing.T) {
	t.Parallel()

	b, id := body(nil), strings.Repeat("e", 255)
	_, err := verifier(t, secretNew).Verify(signed(t, id, now, b, secretNew), []byte(b), now)
	require.NoError(t, err)

	_, err = verifier(t, secretNew).Verify(signed(t, id+"e", now, b, secretNew), []byte(b), now)
	require.Equal(t, models.CodeValidation, models.CodeOf(err))
}

func TestParseSecrets(t *testing.T) {
	t.Parallel()

	parsed, err := standardwebhook.ParseSecrets(secretNew + " , " + secretOld)
	require.NoError(t, err)
	require.Len(t, parsed, 2)
	require.NotContains(t, fmt.Sprintf("%v %+v %#v", parsed, parsed, parsed), "bm5u")

	for name, list := range map[string]string{
		"empty":        "",
		"no prefix":    strings.TrimPrefix(secretNew, "whsec_"),
		"not base64":   "whsec_!!!",
		"23 bytes":     "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 23)),
		"second empty": secretNew + ",",
	} {
		_, err := standardwebhook.ParseSecrets(list)
		require.Error(t, err, name)
	}

	_, err = standardwebhook.New(nil)
	require.Error(t, err)
}

// verifying makes a call of Verify with a good signature.
func verifying(tb testing.TB, v *standardwebhook.Verifier, b string) func() {
	tb.Helper()

	h := signed(tb, "evt_1", now, b, secretNew)

	return func() { _, _ = v.Verify(h, []byte(b), now) }
}

// harmless is a body of a size that is one string.
func harmless(size int) string {
	return `{"note":"` + strings.Repeat("a", max(0, size-len(`{"note":""}`))) + `"}`
}

// TestHostileBodiesCostTheirSize: a gateway's key that was lost must not be enough to stop the service.
func TestHostileBodiesCostTheirSize(t *testing.T) {
	t.Parallel()

	const size = 1 << 20

	v := verifier(t, secretNew)
	long := strings.Repeat("k", size/2)

	for name, b := range map[string]string{
		"a long name over elements":      `{"` + long + `":[` + strings.Repeat("0,", size/4) + "0]}",
		"a long name over few elements":  `{"` + long + `":[` + strings.Repeat("0,", 19_000) + "0]}",
		"a long name over NULs":          `{"` + long + `":[` + strings.Repeat(`"\u0000",`, 19_000) + "0]}",
		"a long name over large numbers": `{"` + long + `":[` + strings.Repeat(`1e9999,`, 19_000) + "0]}",
		"members":                        `{"a":1` + strings.Repeat(`,"a":1`, size/8) + "}",
		"deep arrays":                    strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999),
	} {
		cputime.RequireInProportion(t, verifying(t, v, b), verifying(t, v, harmless(len(b))), "%s", name)
	}

	for _, b := range []string{`{"a":[0` + strings.Repeat(",0", 20_000) + "]}", `{"a":0` + strings.Repeat(`,"a":0`, 2_000) + "}"} {
		_, err := v.Verify(signed(t, "evt_1", now, b, secretNew), []byte(b), now)
		require.Equal(t, models.CodeTooManyMembers, models.CodeOf(err))
	}
}

// FuzzVerify: whatever is signed, the answer is a storable event or one of the errors of a webhook.
func FuzzVerify(f *testing.F) {
	for _, seed := range []string{
		body(nil), body(map[string]string{"type": `"refund.failed"`, "refund_id": `"re_1"`}), `{}`, `[]`, `null`, `"`,
		body(map[string]string{"failure_reason": `"\ud83d\ude00"`}), body(map[string]string{"failure_reason": `"\ud83d"`}),
		body(map[string]string{"result_code": `"\u0000"`}), body(map[string]string{"amount": "1e9"}),
		`{"type":"x","data":{"amount":1e99999}}`, "{\"type\":\"\xff\"}", `{"type":"\\u0000"}`,
	} {
		f.Add("evt_1", []byte(seed))
	}

	v := verifier(f, secretNew)

	f.Fuzz(func(t *testing.T, id string, b []byte) {
		cputime.RequireInProportion(t, verifying(t, v, string(b)), verifying(t, v, harmless(len(b))), "a webhook of %d bytes", len(b))

		event, err := v.Verify(signed(t, id, now, string(b), secretNew), b, now)
		if err == nil {
			require.NotContains(t, event.CheckoutID+event.ResultCode+event.FailureReason+event.RefundID+string(event.Type)+event.Currency, "\x00")
			require.LessOrEqual(t, len([]rune(event.ID)), 255)
			require.False(t, event.Amount.IsNegative())

			return
		}

		switch models.CodeOf(err) {
		case models.CodeMalformedRequest, models.CodeValidation, models.CodeInvalidSignature, models.CodeTooManyMembers:
		default:
			t.Fatalf("unexpected error %v", err)
		}
	})
}
