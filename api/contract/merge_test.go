package contract

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"rihla/api/gen"
	"rihla/models"
)

func parsed(tb testing.TB, text string) any {
	tb.Helper()

	var p problems

	v, err := decodeJSON(context.Background(), []byte(text), &p)
	require.NoError(tb, err)

	return v
}

// TestApplyPatch is RFC 7396, appendix A.
func TestApplyPatch(t *testing.T) {
	t.Parallel()

	for _, tt := range [][3]string{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`["a","b"]`, `["c","d"]`, `["c","d"]`},
		{`{"a":"b"}`, `["c"]`, `["c"]`},
		{`{"a":"foo"}`, `null`, `null`},
		{`{"a":"foo"}`, `"bar"`, `"bar"`},
		{`{"e":null}`, `{"a":1}`, `{"e":null,"a":1}`},
		{`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
	} {
		target, patch := parsed(t, tt[0]), parsed(t, tt[1])
		require.Equal(t, parsed(t, tt[2]), applyPatch(target, patch), "%s + %s", tt[0], tt[1])
		require.Equal(t, parsed(t, tt[0]), target, "the target stays as it was")
		require.Equal(t, parsed(t, tt[1]), patch)
	}
}

func busPatch(tb testing.TB) *Operation {
	tb.Helper()

	doc, err := openapi3.NewLoader().LoadFromFile("../openapi.yaml")
	require.NoError(tb, err)

	operations, err := Compile(doc)
	require.NoError(tb, err)

	op := operations["PATCH /api/v1/provider/buses/:id"]
	require.NotNil(tb, op)

	return op
}

// patching is the context of a request with a patch.
func patching(ctx context.Context, op *Operation, patch any) context.Context {
	return WithPatch(ctx, op, patch)
}

func someBus() gen.BusInput {
	return gen.BusInput{
		PlateNumber: "1", Model: "Coach", Capacity: 40, Driver: gen.DriverInput{Name: "Driver", Phone: new("+966500000000")},
		Features: []string{"wifi"}, Status: models.StatusActive,
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()

	op := busPatch(t)

	got, err := Merge(patching(t.Context(), op, parsed(t, `{"capacity":20,"features":null,"driver":{"phone":null,"license_number":"L"}}`)), someBus())
	require.NoError(t, err)

	want := someBus()
	want.Capacity, want.Features, want.Driver = 20, nil, gen.DriverInput{Name: "Driver", LicenseNumber: new("L")}
	require.Equal(t, want, got)

	_, err = Merge(patching(t.Context(), op, parsed(t, `{"capacity":0,"model":null,"x":1,"driver":{"name":null}}`)), someBus())

	var refused *models.Error

	require.ErrorAs(t, err, &refused)
	require.Equal(t, models.CodeValidation, refused.Code)
	require.Len(t, refused.Details, 4)
	require.Equal(t, []string{"is required"}, refused.EnglishDetails()["driver.name"])

	_, err = Merge(t.Context(), someBus())
	require.Error(t, err)
	require.Equal(t, models.CodeInternal, models.CodeOf(err), "only a PATCH has something to merge")
}

// FuzzMerge merges anything that can be sent into a bus: it is refused field by field, or a bus that PUT would take comes
// out, and merging the same again changes nothing.
func FuzzMerge(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"driver":{"name":null}}`, `{"driver":null}`, `{"features":[]}`, `{"features":["a",null]}`, `{"capacity":1e1}`, `[]`, `null`, `7`,
		`{"driver":{"phone":{"a":{"b":null}}}}`, `{"Capacity":1}`, `{"status":"ACTIVE","":{}}`, `{"plate_number":"\u0001"}`,
	} {
		f.Add([]byte(seed))
	}

	op := busPatch(f)

	f.Fuzz(func(t *testing.T, body []byte) {
		var p problems

		patch, err := decodeJSON(t.Context(), body, &p)
		if err != nil || p.err() != nil {
			return // refused before anything is merged
		}

		ctx, before := patching(t.Context(), op, patch), someBus()

		merged, err := Merge(ctx, before)
		require.Equal(t, someBus(), before)

		if err != nil {
			var refused *models.Error

			require.ErrorAs(t, err, &refused)
			require.NotEmpty(t, refused.Details)

			return
		}

		text, err := json.Marshal(merged)
		require.NoError(t, err)

		var wrong problems

		wrong.checkSchema(op.merge.schemas["application/json"], parsed(t, string(text)))
		require.NoError(t, wrong.err())

		again, err := Merge(ctx, merged)
		require.NoError(t, err)
		require.Equal(t, merged, again)
	})
}
