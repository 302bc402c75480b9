//go:build !race

package harness

// raceEnabled makes the service's processes watch for data races when the tests do.
const raceEnabled = false
