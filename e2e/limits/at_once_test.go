package limits_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// TestAtOnce: an account has so many waiting requests, and so many exports, at the same time; another account is not in its way.
func TestAtOnce(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{Env: map[string]string{"LONG_POLLS_AT_ONCE": "2"}})
	customer := s.As(models.RoleEndUser)
	path := "/api/v1/bookings/" + customer.Book(1).ID.String() + "/payment-status"

	var waiting sync.WaitGroup
	for range 2 {
		waiting.Go(func() {
			a, err := customer.Do(http.MethodGet, path+"?wait=4", nil, nil)
			if err != nil || a.Status != http.StatusOK {
				t.Errorf("%d %v", a.Status, err)
			}
		})
	}

	var refused harness.Answer

	require.Eventually(t, func() bool {
		refused = customer.Get(path + "?wait=1")

		return refused.Status == http.StatusTooManyRequests
	}, 4*time.Second, 50*time.Millisecond)
	require.Equal(t, models.CodeRateLimited, refused.Code())
	require.NotEmpty(t, refused.Header.Get("Retry-After"))

	require.Equal(t, http.StatusOK, customer.Get(path).Status, "who does not wait takes no place")
	require.Equal(t, http.StatusOK, s.As(models.RoleSupportAgent).Get(path+"?wait=1").Status)
	waiting.Wait()
	require.Equal(t, http.StatusOK, customer.Get(path+"?wait=1").Status, "places come back")
}
