package e2e_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/api/contract"
	"rihla/e2e/harness"
)

// TestWords types every text of every body and every parameter of the document, and searches every list, as people in Saudi Arabia do:
// with the digits, separators, marks and spellings of their keyboards, and those that a copied text brings along.
func TestWords(t *testing.T) { //nolint:tparallel // its parts share one service, one after the other
	t.Parallel()

	s := harness.Start(t, harness.Options{})
	w := newTargets(t, s)

	t.Run("bodies", func(t *testing.T) { typedBodies(t, w) })
	t.Run("parameters", func(t *testing.T) { typedParameters(t, w) })
	t.Run("searches", func(t *testing.T) { typedSearches(t, w) })
	t.Run("kept", func(t *testing.T) { keptWords(t, w) })

	cleanLogs(t, s)
}

var (
	arabicDigits = strings.NewReplacer("0", "٠", "1", "١", "2", "٢", "3", "٣", "4", "٤", "5", "٥", "6", "٦", "7", "٧", "8", "٨", "9", "٩")
	farsiDigits  = strings.NewReplacer("0", "۰", "1", "۱", "2", "۲", "3", "۳", "4", "۴", "5", "۵", "6", "۶", "7", "۷", "8", "۸", "9", "۹")
	wordDashes   = strings.NewReplacer("-", "\u2011")
)

// dressed are the ways in which people write a text of each kind. The service has to read all of them as the plain one.
var dressed = map[contract.Input]func(plain string) []string{
	contract.InputText:   marked,
	contract.InputLines:  marked,
	contract.InputSearch: marked,
	contract.InputEmail:  marked,
	contract.InputExact:  marked,
	contract.InputPhone: func(plain string) []string {
		n := len(plain)
		apart := plain[:n-7] + " " + plain[n-7:n-4] + "-" + plain[n-4:]

		return []string{
			arabicDigits.Replace(apart), farsiDigits.Replace(wordDashes.Replace(apart)), "\u202a" + apart + "\u202c",
			"\u2066" + arabicDigits.Replace(plain[:5]) + "\u200f" + plain[5:] + "\u2069\ufeff",
		}
	},
	contract.InputDocument: func(plain string) []string {
		half := len(plain) / 2

		return []string{arabicDigits.Replace(plain), farsiDigits.Replace(plain[:half]) + " " + plain[half:], "\u200e" + plain[:half] + "\u200b" + plain[half:]}
	},
	contract.InputReference: func(plain string) []string {
		return []string{arabicDigits.Replace(plain), farsiDigits.Replace(wordDashes.Replace(plain)), "\u202b" + plain + "\u202c", "\ufeff" + plain + "\u00a0"}
	},
	contract.InputCode: func(plain string) []string {
		half := len(plain) / 2

		return []string{arabicDigits.Replace(plain), farsiDigits.Replace(plain[:half]) + " " + farsiDigits.Replace(plain[half:]), "\u200e" + plain[:half] + "-" + plain[half:]}
	},
	contract.InputAmount: func(plain string) []string {
		arabic := strings.ReplaceAll(arabicDigits.Replace(plain), ".", "٫")

		return []string{arabic, strings.ReplaceAll(farsiDigits.Replace(plain), ".", "٫"), "\u200f" + plain + "\u00a0"}
	},
	contract.InputDigits: func(plain string) []string {
		return []string{arabicDigits.Replace(plain), farsiDigits.Replace(wordDashes.Replace(plain)), "\u200f" + plain + "\u200e"}
	},
}

// asTyped are those kinds that people do not type, or of which every character counts (TestEveryInputIsOfAKind).
var asTyped = []contract.Input{contract.InputSecret, contract.InputChosen, contract.InputMachine, contract.InputNumber}

// marked puts marks that cannot be seen around and into a text: what a chat, a PDF or a bank's page gives along when it is copied.
func marked(plain string) []string {
	half := len(plain) / 2
	for half < len(plain) && plain[half]&0xc0 == 0x80 { // not into a letter
		half++
	}

	return []string{
		"\u200f" + plain + "\u200e", "\u202a" + plain + "\u202c", "\u202b" + plain[:half] + "\u200b" + plain[half:] + "\u202c",
		"\u2067" + plain + "\u2069 ", "\ufeff" + plain[:half] + "\u2060" + plain[half:], "\u00a0" + plain + "\u202e",
	}
}

// samples are texts of each kind, for fields that the good bodies leave out.
var samples = map[contract.Input]string{
	contract.InputText: "كلمة", contract.InputLines: "سطر", contract.InputPhone: "+966500000007", contract.InputDocument: "A1234567",
	contract.InputReference: "REF-12", contract.InputExact: uuid.NewString(),
}

// unread are operations of which a good body is refused for another reason than its words. They have to refuse both ways of writing alike.
var unread = []string{
	"VerifyEmail", "ResetPassword", // the tokens of mails (e2e/identity)
	"ApproveRefund", "RejectRefund", "RejectRefundPayout", "RefundLatePayment", // what is decided, or was never asked
	"ApproveCancellation", "RejectCancellation",
	"CancelTrip", "ApproveTripCancellation", "RejectTripCancellation", "RefundAdCampaign", // another sum, and what was never asked or paid
}

// typedBodies sends the body of every operation with all its texts written in every way, and once more as it is meant.
func typedBodies(t *testing.T, w *targets) {
	t.Helper()

	met := map[contract.Input]int{}
	bodies := w.liveBodies(t)

	for _, p := range w.posts {
		if live, ok := bodies[p.id]; ok {
			p = live(p)
		}

		op := w.operation(p.id)
		schema := op.RequestBody.Value.Content.Get("application/json").Schema.Value

		text, err := json.Marshal(p.body)
		require.NoError(t, err)

		for way := range 6 {
			var plain map[string]any

			require.NoError(t, json.Unmarshal(text, &plain))

			if way > 0 && p.method == http.MethodPost {
				break // once is enough where it makes something; what is changed again shows all ways
			}

			before := maps.Clone(met)
			typed := typedObject(t, p.id, schema, plain, way, met)

			if maps.Equal(before, met) {
				break // it has no text that is typed
			}

			header := map[string]string{"Accept-Language": "ar"}
			if takesKey(op) {
				header[contract.IdempotencyHeader] = uuid.NewString()
			}

			a, err := p.caller.Do(p.method, p.path, typed, header)
			require.NoError(t, err)

			if slices.Contains(unread, p.id) {
				again, err := p.caller.Do(p.method, p.path, plain, nil)
				require.NoError(t, err)
				require.Equal(t, again.Status, a.Status, "%s: %v: %s", p.id, typed, a.Body)
				require.Equal(t, again.Code(), a.Code(), "%s: %v: %s", p.id, typed, a.Body)

				continue
			}

			require.Less(t, a.Status, http.StatusMultipleChoices, "%s: %+q: %s", p.id, typed, a.Body)

			if len(a.Body) > 0 {
				var kept any

				require.NoError(t, a.Data(&kept))

				if list, many := kept.([]any); many {
					kept = list[0]
				}

				sameTexts(t, p.id, schema, plain, kept)
			}

			if takesKey(op) {
				again, err := p.caller.Do(p.method, p.path, plain, header)
				require.NoError(t, err)
				require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"), "%s: %v and %v are one body: %s", p.id, typed, plain, again.Body)
			}
		}
	}

	for _, kind := range []contract.Input{
		contract.InputText, contract.InputLines, contract.InputEmail, contract.InputPhone, contract.InputDocument, contract.InputReference,
		contract.InputCode, contract.InputDigits, contract.InputExact,
	} {
		require.NotZero(t, met[kind], "no body has a %s", kind)
	}
}

func takesKey(op *openapi3.Operation) bool {
	return slices.ContainsFunc(op.Parameters, func(p *openapi3.ParameterRef) bool { return p.Value.Name == contract.IdempotencyHeader })
}

// propertiesOf are the properties of an object, those of its parts included.
func propertiesOf(s *openapi3.Schema) openapi3.Schemas {
	all := maps.Clone(s.Properties)
	if all == nil {
		all = openapi3.Schemas{}
	}

	for _, part := range s.AllOf {
		maps.Copy(all, propertiesOf(part.Value))
	}

	return all
}

// typedObject is a body with all texts in one way of writing them. Texts that a body leaves out are added to both.
func typedObject(t *testing.T, id string, s *openapi3.Schema, plain map[string]any, way int, met map[contract.Input]int) map[string]any {
	t.Helper()

	typed := map[string]any{}

	for name, property := range propertiesOf(s) {
		value, given := plain[name]
		if !given && property.Value.Type.Is("string") {
			sample := samples[contract.InputOf(name, property.Value)]
			if property.Value.Format == "uri" {
				sample = "https://rihla.test/done"
			}

			if value, given = sample, sample != ""; given {
				plain[name] = sample
			}
		}

		if given {
			typed[name] = typedValue(t, id, name, property.Value, value, way, met)
		}
	}

	return typed
}

func typedValue(t *testing.T, id, name string, s *openapi3.Schema, plain any, way int, met map[contract.Input]int) any {
	t.Helper()

	switch plain := plain.(type) {
	case map[string]any:
		return typedObject(t, id, s, plain, way, met)
	case []any:
		list := make([]any, len(plain))
		for i, value := range plain {
			list[i] = typedValue(t, id, name, s.Items.Value, value, way, met)
		}

		return list
	case string:
		kind := contract.InputOf(name, s)
		if slices.Contains(asTyped, kind) {
			return plain
		}

		require.Contains(t, dressed, kind, "%s.%s", id, name)
		met[kind]++

		ways := dressed[kind](plain)

		return ways[(met[kind]+way)%len(ways)]
	default:
		return plain
	}
}

// sameTexts compares the texts of an answer with those that were meant, where it has them.
func sameTexts(t *testing.T, id string, s *openapi3.Schema, plain, kept any) {
	t.Helper()

	switch plain := plain.(type) {
	case map[string]any:
		answer, ok := kept.(map[string]any)
		if !ok {
			return
		}

		for name, property := range propertiesOf(s) {
			if _, given := answer[name]; given && plain[name] != nil && name != "refresh_token" { // each is followed by another
				sameTexts(t, id+"."+name, property.Value, plain[name], answer[name])
			}
		}
	case []any:
		answer, _ := kept.([]any)
		for i := range min(len(plain), len(answer)) {
			sameTexts(t, id, s.Items.Value, plain[i], answer[i])
		}
	case string:
		if kept, ok := kept.(string); ok && s.Format != "date-time" {
			require.Equal(t, plain, kept, id)
		}
	}
}
