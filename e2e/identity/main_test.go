package identity_test

import (
	"testing"

	"rihla/internal/testkit"
)

func TestMain(m *testing.M) { testkit.RunWaiting(m, 2) }
