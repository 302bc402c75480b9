package operations

import (
	"context"

	"rihla/api/contract"
)

// replaced is PUT (rules: api.envelope) as the store applies it: set writes all that the body may say, defaults included.
func replaced[Row, Input any](body *Input, set func(*Row, *Input)) func(*Row) error {
	return func(row *Row) error {
		set(row, body)

		return nil
	}
}

// merged is PATCH (rules: api.envelope) as the store applies it, under the row's lock: the request's merge patch on what PUT
// would have to send to leave the row as it is. The store may run it more than once.
func merged[Row, Input any](ctx context.Context, input func(*Row) Input, set func(*Row, *Input)) func(*Row) error {
	return func(row *Row) error {
		in, err := contract.Merge(ctx, input(row))
		if err != nil {
			return err
		}

		set(row, &in)

		return nil
	}
}
