package middleware

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"rihla/api/contract"
	"rihla/internal/store/db"
	"rihla/models"
)

// IdempotencyStore keeps the answers of requests with an Idempotency-Key for db.KeyLifetime.
type IdempotencyStore interface {
	// Claim takes the key for this request, or returns the answer of the request that had it. Errors:
	// IDEMPOTENCY_KEY_IN_PROGRESS while another request holds it, IDEMPOTENCY_KEY_REUSED when it was used with another body.
	Claim(ctx context.Context, scope db.KeyScope) (db.Claim, error)
	// Complete stores the answer, unless the operation has stored one together with its effect.
	Complete(ctx context.Context, claim uuid.UUID, answer db.Answer) error
	// Release gives the key free, so that a retry runs the operation again.
	Release(ctx context.Context, claim uuid.UUID) error
}

// settleTimeout bounds storing an answer, which goes on after the request's own deadline: the work is done by then.
const settleTimeout = 5 * time.Second

// once has a request take effect at most once per key, path and caller. It comes after validation. Only the answer to what was done is
// stored. A refusal has done nothing, and its cause may be over when the same request comes again: it is judged anew then
// (docs/decisions/0089).
func (c *Chain) once(f *fiber.Ctx, op *contract.Operation, header string, body any) (err error) {
	ctx := f.UserContext()

	key, err := uuid.Parse(header)
	if err != nil {
		return fmt.Errorf("idempotency key: %w", err)
	}

	hash, err := hashBody(body)
	if err != nil {
		return err
	}

	r := requestOf(ctx)
	scope := db.KeyScope{UserID: r.principal.UserID, Method: op.Method, Path: strings.ToLower(f.Path()), Key: key, BodyHash: hash}

	claim, err := c.deps.Idempotency.Claim(ctx, scope)
	if err != nil {
		return err
	}

	if claim.ID == uuid.Nil {
		return replay(f, claim.Answer)
	}

	r.scope, r.claim = scope, claim

	if err = recovered(f); err != nil {
		err = c.HandleError(f, err)
	}

	settle, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()

	if c.settle(settle, f, claim.ID) {
		return err
	}

	// An answer that could not be stored is not sent: a retry would get another one later, when its
	// subject has gone on. The result stays bound to the key, and the retry finds it.
	f.Response().Header.Del(fiber.HeaderLocation)

	return c.HandleError(f, models.NewError(models.CodeServiceUnavailable, "request.answer_not_kept"))
}

// settle stores the answer to what was done, or gives the key free. It stays bound to its body and to what the request has made, and a
// claim that another request has taken over gives nothing free. It reports whether the answer may be given.
func (c *Chain) settle(ctx context.Context, f *fiber.Ctx, claim uuid.UUID) bool {
	response := f.Response()
	undone := response.StatusCode() >= http.StatusBadRequest

	var err error
	if undone {
		err = c.deps.Idempotency.Release(ctx, claim)
	} else {
		err = c.deps.Idempotency.Complete(ctx, claim, db.Answer{
			Status:   response.StatusCode(),
			Location: string(response.Header.Peek(fiber.HeaderLocation)),
			Body:     append([]byte(nil), response.Body()...),
		})
	}

	if err != nil {
		// A retry meets IDEMPOTENCY_KEY_IN_PROGRESS until the claim ends.
		c.deps.Log.LogAttrs(ctx, slog.LevelError, "idempotent answer not stored",
			slog.String("request_id", RequestID(ctx)), slog.String("error", err.Error()))
	}

	return err == nil || undone
}

func replay(f *fiber.Ctx, stored db.Answer) error {
	f.Set("Idempotent-Replayed", "true")

	if stored.Location != "" {
		f.Set(fiber.HeaderLocation, stored.Location)
	}

	f.Response().Header.SetContentType(fiber.MIMEApplicationJSON)

	return f.Status(stored.Status).Send(stored.Body)
}

// hashBody hashes the validated value, whose JSON has its names in order; of an operation without a body it is that of null.
func hashBody(body any) ([]byte, error) {
	content, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("hash body: %w", err)
	}

	hash := sha256.Sum256(content)

	return hash[:], nil
}
