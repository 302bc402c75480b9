package limits_test

import (
	"net/http"
	"sync"
	"testing"

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

	// Of three that wait at once one is refused, as soon as it comes.
	answers := make(chan harness.Answer, 3)

	var waiting sync.WaitGroup
	for range cap(answers) {
		waiting.Go(func() {
			a, err := customer.Do(http.MethodGet, path+"?wait=4", nil, nil)
			if err != nil {
				t.Error(err)
			}

			answers <- a
		})
	}

	refused := <-answers
	require.Equal(t, http.StatusTooManyRequests, refused.Status, "%s", refused.Body)
	require.Equal(t, models.CodeRateLimited, refused.Code())
	require.NotEmpty(t, refused.Header.Get("Retry-After"))

	require.Equal(t, http.StatusOK, customer.Get(path).Status, "who does not wait takes no place")
	require.Equal(t, http.StatusOK, s.As(models.RoleSupportAgent).Get(path+"?wait=1").Status)
	waiting.Wait()
	require.Equal(t, http.StatusOK, (<-answers).Status)
	require.Equal(t, http.StatusOK, (<-answers).Status)
	require.Equal(t, http.StatusOK, customer.Get(path+"?wait=1").Status, "places come back")
}
