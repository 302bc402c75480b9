package contract

import (
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
)

// typed are texts as people type and paste them, and what each kind of input makes of them.
var typed = map[Input]map[string]string{
	InputText: {
		"\u200fمحمد\u200e": "محمد", "محمد\u202eagent\u202c": "محمدagent", "نور\u200cالدین": "نور\u200cالدین", "Trip\u0007 one": "Trip one",
		"a\nb": "a b", "\u2066رحلة\u2069 ": "رحلة", "soft\u00adhyphen": "softhyphen",
	},
	InputLines: {"سطر\r\nسطر\u202e": "سطر\nسطر", "a\u2028b": "a\nb", "\ufeffnote": "note"},
	InputSearch: {
		"\u200eRB-7XK2M9Q\u200f": "RB-7XK2M9Q", "\u0020عائشة\u0020": "عائشة", "a\u200bb": "ab",
	},
	InputEmail: {"x@example.com\u200e": "x@example.com", "\u202ax@exam\u200bple.com\u202c": "x@example.com", "\u0020x@example.com\u00a0": "x@example.com"},
	InputPhone: {
		"٠٥٠ ١٢٣ ٤٥٦٧": "0501234567", "۰۵۰۱۲۳۴۵۶۷": "0501234567", "\u202a+966 50-123-4567\u202c": "+966501234567",
		"+966\u00a050\u2011123\u20134567": "+966501234567", "＋９６６５０１２３４５６７": "+966501234567", "(050) 123.4567": "0501234567",
		"٠٥٠−١٢٣−٤٥٦٧": "0501234567",
	},
	InputDocument:  {"١٠٢٣٤٥٦٧٨٩": "1023456789", "A\u200e 123 456": "A123456", "G-12\u201334": "G-12-34", "Ａ１２": "A12"},
	InputReference: {"TRF\u2011٢٠٢٦–٠١\u200f": "TRF-2026-01", "أ ب ج\u00a0 ١٢٣٤": "أ ب ج 1234", "\tABC  1234\n": "ABC 1234"},
	InputCode:      {"٥١٨٨٩٥": "518895", "۵۱۸ ۸۹۵": "518895", "518\u00a0895\u200e": "518895", "518\u2011895": "518895", "ABCD-EFGH–JKMN-PQRS": "ABCDEFGHJKMNPQRS"},
	InputAmount: {
		"٦٩١٫٠٠": "691.00", "١٬٠٥٠٫٢٥": "1050.25", "1,050": "1050", "\u200e575.00": "575.00", "575\u00a0": "575", "۱۲۳۴٫۵": "1234.5",
	},
	InputDigits: {"٢٠٢٦-١١-٢٧": "2026-11-27", "2026\u201111\u201127": "2026-11-27"},
	InputExact:  {"\u2066019ab0c2-7000-7aaa-8bbb-000000000001\u2069": "019ab0c2-7000-7aaa-8bbb-000000000001", "\u0020019ab0c2-7000-7aaa-8bbb-000000000002\n": "019ab0c2-7000-7aaa-8bbb-000000000002"},
}

// never are texts with more than one meaning: they are refused, not guessed.
var never = map[Input][]string{
	InputAmount:   {"10,50", "99,5", "1,05", "1.005", "1,0500", "12٬34", "-5", "SAR"},
	InputPhone:    {"05x1234567", "050/1234567", "0501234567 ext 5"},
	InputDocument: {"A_12", "ا١٢"},
}

// numbers are the JSON numbers and booleans of bodies, and what they are. Amounts stay numbers: clients send what they have computed.
var numbers = map[string]string{
	"price": "money", "price_per_seat": "money", "amount": "money", "expected_amount": "money", "expected_refund_total": "money", "commission_rate": "rate",
	"capacity": "integer", "stars": "integer", "latitude": "coordinate", "longitude": "coordinate",
}

// input is a property of a body or a parameter that is no object and no list.
type input struct {
	place string // operation and path
	name  string
	param bool
	// schema is that of the value, with its type.
	schema *openapi3.Schema
}

func (in input) kind() Input {
	if in.param {
		return ParameterOf(in.name, in.schema)
	}

	return InputOf(in.name, in.schema)
}

func inputs(t *testing.T) (all []input) {
	t.Helper()

	doc, err := openapi3.NewLoader().LoadFromFile("../openapi.yaml")
	require.NoError(t, err)

	var walk func(place, name string, schema *openapi3.Schema)
	walk = func(place, name string, schema *openapi3.Schema) {
		for _, part := range schema.AllOf {
			if part.Value.Type == nil || part.Value.Type.Is("object") {
				walk(place, name, part.Value)
			}
		}

		for property, s := range schema.Properties {
			walk(place+"."+property, property, s.Value)
		}

		switch {
		case schema.Items != nil:
			walk(place+".0", name, schema.Items.Value)
		case whole(schema).Type != nil && !whole(schema).Type.Is("object"):
			all = append(all, input{place: place, name: name, schema: schema})
		}
	}

	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			for _, list := range []openapi3.Parameters{item.Parameters, op.Parameters} {
				for _, p := range list {
					all = append(all, input{op.OperationID + " " + p.Value.In + " " + p.Value.Name, p.Value.Name, true, p.Value.Schema.Value})
				}
			}

			if op.RequestBody == nil || op.Extensions["x-raw-body"] == true {
				continue // what was signed is read as it is
			}

			for media, content := range op.RequestBody.Value.Content {
				walk(op.OperationID+" "+media+" ", "", content.Schema.Value)
			}
		}
	}

	require.Greater(t, len(all), 300)

	return all
}

// TestEveryInputIsOfAKind: a property or parameter that is added says what it is, so that how people write it is decided.
func TestEveryInputIsOfAKind(t *testing.T) {
	t.Parallel()

	met := map[Input]bool{}

	for _, in := range inputs(t) {
		kind := in.kind()
		met[kind] = true

		switch {
		case kind == "":
			t.Errorf("%s is of no kind: give it x-input in the document, or name it in properties or parameters (api/contract/inputs.go)", in.place)
		case kind == InputNumber && !in.param && !whole(in.schema).Type.Is("boolean"):
			require.Contains(t, numbers, in.name, in.place)
		}
	}

	for kind := range cleaned {
		require.True(t, met[kind], "nothing is a %s", kind)
	}
}

// TestInputsAsPeopleWriteThem: every property and parameter takes what people write there, and refuses what may mean two things.
func TestInputsAsPeopleWriteThem(t *testing.T) {
	t.Parallel()

	for _, in := range inputs(t) {
		clean := func(text string) any { return tidyProperty(in.name, in.schema, text, false) }
		if in.param {
			clean = func(text string) any { return in.kind().Clean(text) }
		}

		valid := func(value any) bool {
			if text, ok := value.(string); ok && in.param {
				if value, ok = parameterValue(in.schema, text); !ok {
					return false
				}
			}

			var p problems
			p.checkSchemaAt(in.name, in.schema, value)

			return p.err() == nil
		}

		for text, kept := range typed[in.kind()] {
			require.Equal(t, kept, clean(text), "%s: %+q", in.place, text)

			if fits(in.schema, kept) {
				require.True(t, valid(clean(text)), "%s: %+q", in.place, text)
			}
		}

		for _, text := range never[in.kind()] {
			require.False(t, valid(clean(text)), "%s: %+q", in.place, text)
		}

		if in.kind() == InputSecret || in.kind() == InputMachine {
			require.Equal(t, "\u200e٣ ", clean("\u200e٣ "), in.place)
		}
	}
}

// fits leaves out samples that are no value of this schema for another reason: a day is no moment, a reference no number.
func fits(s *openapi3.Schema, text string) bool {
	s = whole(s)

	switch {
	case s.Format == "date-time", s.Format == "uri", s.Type.Is("integer"):
		return false
	case s.MaxLength != nil && uint64(len([]rune(text))) > *s.MaxLength, uint64(len([]rune(text))) < s.MinLength:
		return false
	default:
		return true
	}
}

func TestIntegersOfParametersInArabicDigits(t *testing.T) {
	t.Parallel()

	for _, in := range inputs(t) {
		if in.param && in.schema.Type.Is("integer") {
			value, ok := parameterValue(in.schema, cleaned[in.kind()]("\u200f١٢"))
			require.True(t, ok, in.place)
			require.Equal(t, int64(12), value, in.place)
		}
	}
}

func TestWhatCannotBeSeenIsNowhere(t *testing.T) {
	t.Parallel()

	for kind, clean := range cleaned {
		for _, r := range "\u0001\u001b\u007f\u0085\u00ad\u034f\u061c\u180e\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff\ufff9\U000e0041" {
			require.Equal(t, "1", clean(string(r)+"1"+string(r)), "%s %U", kind, r)
			require.NotContains(t, clean("1"+string(r)+"2"), string(r), "%s %U", kind, r)
		}

		if kind != InputText && kind != InputLines && kind != InputSearch {
			require.False(t, strings.ContainsAny(clean("ن\u200cو\u200dر"), "\u200c\u200d"), kind)
		}
	}
}
