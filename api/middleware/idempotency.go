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
	"rihla/models"
)

// IdempotencyScope is what makes two requests the same intention (rules: idempotency.replay).
type IdempotencyScope struct {
	UserID uuid.UUID
	Method string
	// Path is the request's path with its ids in lower case, without the query.
	Path string
	// Key is a UUID v4, lower case.
	Key string
	// BodyHash is the SHA-256 of the body's content; order of fields and spaces do not count.
	BodyHash [sha256.Size]byte
}

// IdempotencyClaim is the right to run the operation, or the answer of whoever ran it.
type IdempotencyClaim struct {
	Scope IdempotencyScope
	// ID tells this claim from a later one on the same scope. What an operation writes under it counts only while nobody
	// has taken the key over. uuid.Nil when Stored is set.
	ID uuid.UUID
	// ResourceID is what an earlier request on the scope has made before it was killed or failed; uuid.Nil for nothing.
	ResourceID uuid.UUID
	// Stored is set when the operation has run already.
	Stored *StoredAnswer
}

// StoredAnswer is an answer that is given again.
type StoredAnswer struct {
	Status int
	// Location is the only header that belongs to the answer itself; empty for none.
	Location string
	Body     []byte
}

// IdempotencyStore keeps answers for 24 hours.
type IdempotencyStore interface {
	// Claim takes the scope for this request. IDEMPOTENCY_KEY_IN_PROGRESS while another request holds it,
	// IDEMPOTENCY_KEY_REUSED when it was used with another body.
	Claim(ctx context.Context, scope IdempotencyScope) (IdempotencyClaim, error)
	// Complete stores the answer, unless the operation has stored one together with its effect.
	Complete(ctx context.Context, claim IdempotencyClaim, answer StoredAnswer) error
	// Release gives the scope free, so that a retry runs the operation again.
	Release(ctx context.Context, claim IdempotencyClaim) error
}

// settleTimeout bounds storing an answer, which goes on after the request's own deadline: the work is done by then.
const settleTimeout = 5 * time.Second

// once runs the handler at most once per scope. It comes after validation: only what the handler answered is stored,
// its 4xx included, never a 5xx.
func (c *Chain) once(f *fiber.Ctx, op *contract.Operation, key string, body any) (err error) {
	ctx := f.UserContext()

	hash, err := hashBody(body)
	if err != nil {
		return err
	}

	r := requestOf(ctx)

	claim, err := c.deps.Idempotency.Claim(ctx, IdempotencyScope{
		UserID: r.principal.UserID, Method: op.Method, Path: strings.ToLower(f.Path()), Key: key, BodyHash: hash,
	})
	if err != nil {
		return err
	}

	if claim.Stored != nil {
		return replay(f, claim.Stored)
	}

	r.claim = claim

	if err = recovered(f); err != nil {
		err = c.HandleError(f, err)
	}

	settle, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()

	if c.settle(settle, f, claim) {
		return err
	}

	// An answer that could not be kept is not given: the same request would get another one later (rules: idempotency.replay), when its
	// subject has gone on. What was done stays bound to the key, and the next try finds it.
	f.Response().Header.Del(fiber.HeaderLocation)

	return c.HandleError(f, models.Errorf(models.CodeServiceUnavailable, "The answer could not be kept. Try again with the same key."))
}

// settle reports whether the answer may be given.
func (c *Chain) settle(ctx context.Context, f *fiber.Ctx, claim IdempotencyClaim) bool {
	response := f.Response()
	failed := response.StatusCode() >= http.StatusInternalServerError

	var err error
	if failed {
		err = c.deps.Idempotency.Release(ctx, claim)
	} else {
		err = c.deps.Idempotency.Complete(ctx, claim, StoredAnswer{
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

	return err == nil || failed
}

func replay(f *fiber.Ctx, stored *StoredAnswer) error {
	f.Set("Idempotent-Replayed", "true")

	if stored.Location != "" {
		f.Set(fiber.HeaderLocation, stored.Location)
	}

	f.Response().Header.SetContentType(fiber.MIMEApplicationJSON)

	return f.Status(stored.Status).Send(stored.Body)
}

// hashBody hashes the validated value, whose JSON has its names in order; of an operation without a body it is that of null.
func hashBody(body any) ([sha256.Size]byte, error) {
	content, err := json.Marshal(body)
	if err != nil {
		return [sha256.Size]byte{}, fmt.Errorf("hash body: %w", err)
	}

	return sha256.Sum256(content), nil
}
