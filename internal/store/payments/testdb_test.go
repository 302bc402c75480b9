package payments_test

import "time"

// at is a clock that stands still.
func at(now time.Time) func() time.Time { return func() time.Time { return now } }
