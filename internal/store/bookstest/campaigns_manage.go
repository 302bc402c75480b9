package bookstest

import "time"

// Clock is the time of now.
func Clock() time.Time { return time.Now() }
