package contract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gofiber/fiber/v2"

	"rihla/internal/jsonlimit"
	"rihla/models"
)

// CheckLength compares the length that a body says it has with the operation's limit: PAYLOAD_TOO_LARGE. It reads, and
// returns, the body of an operation with x-raw-body only, whose signature identifies the caller.
func (o *Operation) CheckLength(f *fiber.Ctx, form *Form) ([]byte, error) {
	limit := o.BodyLimit
	if form != nil {
		limit = form.limit
	}

	if o.RawBody {
		return ReadBody(f, limit)
	}

	if f.Request().Header.ContentLength() > limit {
		return nil, tooLarge(limit)
	}

	return nil, nil
}

// ReadBody takes the body from the connection, up to the limit. It sets it back as a plain body, because handlers read
// it there. A compressed body is left compressed: nothing here accepts one.
func ReadBody(f *fiber.Ctx, limit int) ([]byte, error) {
	req := f.Request()
	if req.Header.ContentLength() > limit {
		return nil, tooLarge(limit)
	}

	if !req.IsBodyStream() {
		return req.Body(), nil
	}

	body, err := io.ReadAll(io.LimitReader(req.BodyStream(), int64(limit)+1))
	if err != nil {
		return nil, malformed("request.body_ends_early")
	}

	if len(body) > limit {
		return nil, tooLarge(limit)
	}

	req.SetBodyRaw(body)

	return body, nil
}

// jsonBody checks content type and body, and returns what the body holds; nil when it is empty and may be.
// Field errors go to p. Errors: MALFORMED_REQUEST, UNSUPPORTED_MEDIA_TYPE, TOO_MANY_MEMBERS, or the context's.
func (b *bodyRule) jsonBody(f *fiber.Ctx, body []byte, p *problems) (any, error) {
	if len(body) == 0 {
		if b.required {
			return nil, malformed("request.body_required")
		}

		return nil, nil //nolint:nilnil // an absent optional body is neither a value nor an error
	}

	schema, err := b.schemaFor(&f.Request().Header)
	if err != nil || schema == nil {
		return nil, err
	}

	ctx := f.UserContext()

	value, err := decodeJSON(ctx, body, p)
	if err != nil {
		return nil, err
	}

	if err = ctx.Err(); err != nil {
		return nil, err
	}

	value = tidy(schema, value, b.keepNulls)
	p.checkSchema(schema, value)

	if b.decimals {
		p.checkDecimals(schema, value, "")
	}

	return value, nil
}

// headerReader is the part of a request's header that tells what its body is.
type headerReader interface {
	ContentType() []byte
	Peek(key string) []byte
}

// schemaFor finds the schema of the body's media type; nil for one that the handler reads itself.
func (b *bodyRule) schemaFor(h headerReader) (*openapi3.Schema, error) {
	contentType := string(h.ContentType())

	mediaType, params, err := contentType, map[string]string(nil), error(nil)
	if contentType != fiber.MIMEApplicationJSON {
		mediaType, params, err = mime.ParseMediaType(contentType)
	}

	schema, known := b.schemas[mediaType]
	charset, named := params["charset"]

	switch encoding := string(h.Peek(fiber.HeaderContentEncoding)); {
	case err != nil, !known, named && !strings.EqualFold(charset, "utf-8"):
		return nil, b.unsupported()
	case encoding != "" && !strings.EqualFold(encoding, "identity"):
		return nil, models.NewError(models.CodeUnsupportedMediaType, "request.compressed")
	}

	return schema, nil
}

func (b *bodyRule) unsupported() error {
	accepted := slices.Sorted(maps.Keys(b.schemas))

	return models.NewError(models.CodeUnsupportedMediaType, "request.content_type", "types", accepted)
}

func tooLarge(limit int) error {
	return models.NewError(models.CodePayloadTooLarge, "request.body_too_large", "n", limit)
}

func malformed(key models.Key, args ...any) error {
	return models.NewError(models.CodeMalformedRequest, key, args...)
}

func jsonError(err error) error {
	if _, ok := errors.AsType[*models.Error](err); ok {
		return err
	}

	switch {
	case errors.Is(err, jsonlimit.ErrTooDeep):
		return malformed("request.body_too_deep")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return err
	default:
		return fmt.Errorf("decode valid JSON: %w", err)
	}
}
