package gateways_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/gateways/fake"
)

func TestSpareLeavesRoomToCustomers(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		limits gateways.Limits
		each   int
		want   int
	}{
		{gateways.Limits{}, 2, math.MaxInt},
		{gateways.Limits{Rate: 0.001, Burst: 100}, 1, 50},
		{gateways.Limits{Rate: 0.001, Burst: 100}, 2, 25},
		{gateways.Limits{Rate: 0.001, Burst: 100, Concurrency: 16}, 2, 12},
		{gateways.Limits{Rate: 0.001, Burst: 1, Concurrency: 1}, 2, 1},
	} {
		require.Equal(t, tt.want, gateways.Guarded(fake.New(), tt.limits, gateways.Reports{}).Spare(tt.each), "%+v", tt)
	}
}
