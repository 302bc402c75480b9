package operations

import (
	"context"

	"rihla/api/middleware"
	"rihla/internal/auth"
	"rihla/models"
)

// ReadPeople counts rows about people that the caller is about to read, most of them, and refuses callers who have read very many in this
// hour without a code (rules: privacy.lists). After the answer read is to be called with the number of rows in it. Errors:
// STEP_UP_REQUIRED, SECOND_FACTOR_NEEDED.
func (o *Operations) ReadPeople(
	ctx context.Context, caller auth.Principal, operation string, most int,
) (read func(ctx context.Context, rows int), err error) {
	by := actor(ctx)

	reserved, err := o.Store.Accounts.ReserveRows(ctx, caller.UserID, most)
	if err != nil {
		return nil, err
	}

	read = func(ctx context.Context, rows int) {
		ctx, cancel := detached(ctx)
		defer cancel()

		if err := o.Store.Accounts.ReadRows(ctx, by, reserved, operation, rows); err != nil {
			// They stay counted as they were reserved, which is never too few.
			o.Log.ErrorContext(ctx, "rows about people not settled", "request_id", middleware.RequestID(ctx), "error", err)
		}
	}

	if reserved.Total <= models.PeopleWithoutCode {
		return read, nil
	}

	caller.MustEnrol = false // what such an account reaches here is its own

	if err := o.SteppedUp(ctx, caller); err != nil {
		read(ctx, 0)

		return nil, err
	}

	return read, nil
}
