package contract

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"os"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gofiber/fiber/v2"

	"rihla/models"
)

const (
	// UploadTime is how long a multipart body may take to arrive: 50 MiB over a line of 2 Mbit/s.
	UploadTime = 4 * time.Minute
	// uploadRate is the least that a form arrives with, in bytes a second, once uploadGrace is over: each one that runs holds memory
	// and one of its account's places.
	uploadRate  = 16 << 10
	uploadGrace = 10 * time.Second
	// maxParts and maxPartHeader bound what is read of a form besides its fields.
	maxParts      = 100
	maxPartHeader = 64 << 10
)

// Form is what an operation accepts as multipart/form-data.
type Form struct {
	// limit is the largest body, in bytes: x-body-limit of the media type.
	limit  int
	fields map[string]formField
}

// formField is a part by its name.
type formField struct {
	required bool
	// most is how often it may be given.
	most uint64
	// schema is that of a part that holds JSON; nil for a file.
	schema   *openapi3.Schema
	decimals bool
}

func compileForm(content *openapi3.MediaType) *Form {
	rule := &Form{limit: defaultBodyLimit, fields: map[string]formField{}}

	if limit, ok := content.Extensions["x-body-limit"].(float64); ok {
		rule.limit = int(limit)
	}

	for name, property := range content.Schema.Value.Properties {
		field := formField{most: 1}

		switch schema := property.Value; {
		case schema.Type.Is("object"):
			field.schema, field.decimals = schema, hasDecimals(schema)
		case schema.Type.Is("array") && schema.MaxItems != nil:
			field.most = *schema.MaxItems
		}

		rule.fields[name] = field
	}

	for _, name := range content.Schema.Value.Required {
		field := rule.fields[name]
		field.required = true
		rule.fields[name] = field
	}

	return rule
}

// FormOf is the operation's rule for a body that says it is multipart/form-data; nil for any other body, and for an
// operation that takes no form.
func (o *Operation) FormOf(f *fiber.Ctx) *Form {
	if o.body == nil || o.body.form == nil {
		return nil
	}

	if mediaType, _, err := mime.ParseMediaType(string(f.Request().Header.ContentType())); err != nil || mediaType != fiber.MIMEMultipartForm {
		return nil
	}

	return o.body.form
}

// Upload is a multipart/form-data body. It is read from the connection part by part and only once its caller is known to
// be allowed to: an unread part is never in memory. It is not safe for concurrent use.
type Upload struct {
	rule     *Form
	body     *boundedBody
	parts    *multipart.Reader
	part     *multipart.Part
	field    formField
	count    int
	given    map[string]uint64
	problems problems
}

type uploadKey struct{}

// WithUpload puts the request's form where its handler finds it.
func WithUpload(ctx context.Context, u *Upload) context.Context {
	return context.WithValue(ctx, uploadKey{}, u)
}

// UploadOf is the request's form; nil when its body is something else.
func UploadOf(ctx context.Context) *Upload {
	u, _ := ctx.Value(uploadKey{}).(*Upload)

	return u
}

// Open prepares reading. Errors: MALFORMED_REQUEST, UNSUPPORTED_MEDIA_TYPE.
func (r *Form) Open(f *fiber.Ctx) (*Upload, error) {
	req := f.Request()

	if encoding := string(req.Header.Peek(fiber.HeaderContentEncoding)); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return nil, models.NewError(models.CodeUnsupportedMediaType, "request.compressed")
	}

	_, params, err := mime.ParseMediaType(string(req.Header.ContentType()))
	if err != nil || params["boundary"] == "" {
		return nil, malformed("request.no_boundary")
	}

	body := &boundedBody{left: r.limit, limit: r.limit}

	if req.IsBodyStream() {
		body.source = req.BodyStream()

		// Without it the time for ordinary bodies would hold, which a large one on a slow line does not keep.
		body.pace = &pace{conn: f.Context().Conn(), began: time.Now()}
		if err := body.pace.set(0); err != nil {
			return nil, malformed("request.connection_gone")
		}
	} else {
		body.source = bytes.NewReader(req.Body())
	}

	return &Upload{rule: r, body: body, parts: multipart.NewReader(body, params["boundary"]), given: map[string]uint64{}}, nil
}

// Close takes a body that was read to its end off the request. Nothing may ask it for more: of a chunked body, what
// comes next is the next request.
func (u *Upload) Close(f *fiber.Ctx) {
	if u.body.ended {
		f.Request().SetBodyRaw(nil)
	}
}

// Next goes to the next field that the operation knows, which is then read with Read or JSON, or left; io.EOF after the
// last. A field that the document does not allow (an unknown name, too many of one) is passed over and reported by Err. Errors:
// MALFORMED_REQUEST, PAYLOAD_TOO_LARGE, after which there is nothing more to read.
func (u *Upload) Next() (field string, err error) {
	for {
		if u.part != nil {
			if _, err := io.Copy(io.Discard, u.part); err != nil {
				return "", u.failure()
			}
		}

		u.body.header = maxPartHeader
		u.part, err = u.parts.NextPart()
		u.body.header = 0

		if errors.Is(err, io.EOF) {
			u.requireFields()

			return "", io.EOF
		}

		if u.count++; err != nil || u.count > maxParts {
			return "", u.failure()
		}

		if name := u.part.FormName(); u.accept(name) {
			return name, nil
		}
	}
}

func (u *Upload) accept(name string) bool {
	field, known := u.rule.fields[name]
	u.field = field
	u.given[name]++

	switch {
	case !known:
		delete(u.given, name) // the client must not decide how much is remembered
		u.problems.add(strings.ToValidUTF8(name, "\uFFFD"), "field.unknown")
	case u.given[name] <= field.most:
		return true
	case field.most == 1:
		u.problems.add(name, "field.repeated")
	default:
		u.problems.add(name, "field.max_items", "n", field.most)
	}

	return false
}

func (u *Upload) requireFields() {
	for name, field := range u.rule.fields {
		if field.required && u.given[name] == 0 {
			u.problems.add(name, "field.required")
		}
	}
}

// Read empties buf and reads the field into it. Errors: PAYLOAD_TOO_LARGE for a field of more than limit bytes, after
// which Next goes on; MALFORMED_REQUEST.
func (u *Upload) Read(buf *bytes.Buffer, limit int) error {
	buf.Reset()

	if _, err := buf.ReadFrom(io.LimitReader(u.part, int64(limit)+1)); err != nil {
		return u.failure()
	}

	if buf.Len() > limit {
		return models.NewError(models.CodePayloadTooLarge, "request.part_too_large", "n", limit)
	}

	return nil
}

// JSON reads the field into a value, by the rules for a body: faults of the text are reported by Err, and the value is
// then of no use. Errors: MALFORMED_REQUEST, PAYLOAD_TOO_LARGE, TOO_MANY_MEMBERS, or the context's.
func (u *Upload) JSON(ctx context.Context, into any) error {
	var text bytes.Buffer
	if err := u.Read(&text, defaultBodyLimit); err != nil {
		return err
	}

	value, err := decodeJSON(ctx, text.Bytes(), &u.problems)
	if err != nil {
		return err
	}

	value = tidy(u.field.schema, value, false)
	u.problems.checkSchema(u.field.schema, value)

	if u.field.decimals {
		u.problems.checkDecimals(u.field.schema, value, "")
	}

	if len(u.problems.details) > 0 {
		return nil
	}

	plain, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode part: %w", err)
	}

	// The schema knows every name exactly, so that there are none left which differ in letter case.
	if err := json.Unmarshal(plain, into); err != nil {
		return fmt.Errorf("decode part: %w", err)
	}

	return nil
}

// Err is VALIDATION_ERROR with all that the document does not allow in what was read, or nil.
func (u *Upload) Err() error { return u.problems.err() }

// failure is why reading ended.
func (u *Upload) failure() error {
	if u.body.err != nil {
		return u.body.err
	}

	return malformed("request.not_multipart")
}

// boundedBody is the body up to its limit, and of each part's header no more than maxPartHeader: multipart.Reader would
// keep ten mebibytes of it. Behind its end come a line break, which a last boundary may lack, and io.ErrUnexpectedEOF:
// multipart.Reader would take a body that is cut off within a header for a whole one.
type boundedBody struct {
	source io.Reader
	limit  int
	left   int
	// header is what may still be read before a part begins; 0 within a part.
	header int
	ended  bool
	tail   strings.Reader
	// pace is nil for a body that is here already.
	pace *pace
	// err is the error that has ended reading early, as the client gets it.
	err error
}

// Read implements io.Reader.
func (b *boundedBody) Read(p []byte) (int, error) {
	switch {
	case b.err != nil:
		return 0, b.err
	case b.ended && b.tail.Len() > 0:
		return b.tail.Read(p)
	case b.ended:
		return 0, io.ErrUnexpectedEOF
	}

	n, err := b.source.Read(p)
	b.left -= n

	if n > 0 && err == nil && b.pace != nil {
		err = b.pace.set(b.limit - b.left)
	}

	if b.header > 0 {
		if b.header -= n; b.header <= 0 {
			b.err = malformed("request.part_header_too_long")
		}
	}

	switch {
	case b.left < 0:
		b.err = tooLarge(b.limit)
	case errors.Is(err, io.EOF):
		b.ended, err = true, nil
		b.tail.Reset("\r\n")
	case errors.Is(err, os.ErrDeadlineExceeded):
		b.err = malformed("request.too_slow", "n", uploadRate)
	case err != nil:
		b.err = malformed("request.body_ends_early")
	}

	if b.err != nil {
		return 0, b.err
	}

	return n, err
}

// pace ends the reading of a body that falls behind uploadRate, or takes longer than uploadTime.
type pace struct {
	conn  interface{ SetReadDeadline(t time.Time) error }
	began time.Time
}

// set gives the next bytes the time that the slowest allowed client would need for them.
func (p *pace) set(read int) error {
	return p.conn.SetReadDeadline(p.began.Add(min(UploadTime, uploadGrace+time.Duration(read)*time.Second/uploadRate)))
}
