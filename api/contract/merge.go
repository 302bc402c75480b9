package contract

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/getkin/kin-openapi/openapi3"
)

// mergePatch is a request's JSON Merge Patch (RFC 7396) and what its result must be.
type mergePatch struct {
	patch any
	// target is the body of the PUT on the same path.
	target *bodyRule
}

type mergeKey struct{}

// merges reports whether a body may be a merge patch. A PATCH that takes none has a body like any other operation.
func (b *bodyRule) merges() bool {
	_, ok := b.schemas["application/merge-patch+json"]

	return ok
}

// WithPatch puts a request's merge patch where Merge finds it; the body of any other operation is no patch.
func WithPatch(ctx context.Context, op *Operation, body any) context.Context {
	if op.merge == nil {
		return ctx
	}

	return context.WithValue(ctx, mergeKey{}, &mergePatch{patch: body, target: op.merge})
}

// schema is what PUT wants of a JSON body.
func (m *mergePatch) schema() *openapi3.Schema { return m.target.schemas["application/json"] }

// Merge is what PATCH does: it applies the request's merge patch to what PUT would have to send to leave the resource as
// it is, checks the result as PUT on the same path would, and decodes it. It may be called several times, and changes
// nothing that it is given. Error: VALIDATION_ERROR.
func Merge[T any](ctx context.Context, current T) (T, error) {
	var merged T

	m, ok := ctx.Value(mergeKey{}).(*mergePatch)
	if !ok {
		return merged, errors.New("the operation takes no merge patch")
	}

	value, err := plainValue(current)
	if err != nil {
		return merged, err
	}

	value = tidy(m.schema(), applyPatch(value, m.patch), false)

	var p problems

	p.checkSchema(m.schema(), value)
	p.checkDecimals(m.schema(), value, "")

	if err := p.err(); err != nil {
		return merged, err
	}

	text, err := json.Marshal(value)
	if err != nil {
		return merged, fmt.Errorf("encode merged resource: %w", err)
	}

	// The schema knows every name exactly, so that there are none left which differ in letter case.
	if err := json.Unmarshal(text, &merged); err != nil {
		return merged, fmt.Errorf("decode merged resource: %w", err)
	}

	return merged, nil
}

// applyPatch is RFC 7396, section 2. The result shares values with both; neither is changed.
func applyPatch(target, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}

	out := map[string]any{}
	if object, ok := target.(map[string]any); ok {
		maps.Copy(out, object)
	}

	for name, change := range changes {
		if change == nil {
			delete(out, name)
		} else {
			out[name] = applyPatch(out[name], change)
		}
	}

	return out
}

// plainValue is v as maps, lists, strings and json.Numbers, as bodies are read.
func plainValue(v any) (any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode resource: %w", err)
	}

	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()

	var value any
	if err := d.Decode(&value); err != nil {
		return nil, fmt.Errorf("decode resource: %w", err)
	}

	return value, nil
}
