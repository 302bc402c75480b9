package gateways_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/gateways"
)

func TestKindOf(t *testing.T) {
	t.Parallel()

	rejected := &gateways.Error{Kind: gateways.KindRejected, Code: "refund_exceeds_paid", Message: "Too much."}

	require.Equal(t, gateways.KindRejected, gateways.KindOf(fmt.Errorf("refund: %w", rejected)))
	require.Equal(t, gateways.KindUnknown, gateways.KindOf(errors.New("foreign")), "a foreign error says nothing of its effect")
	require.Equal(t, gateways.KindUnknown, gateways.KindOf(nil))
	require.Equal(t, "gateway rejected (refund_exceeds_paid): Too much.", rejected.Error())

	lost := &gateways.Error{Code: "timeout", Err: context.DeadlineExceeded}
	require.ErrorIs(t, lost, context.DeadlineExceeded)
	require.Equal(t, gateways.KindUnknown, lost.Kind, "the zero kind is the careful one")
}
