package config

import (
	"errors"
	"strconv"
	"strings"
)

// Bytes is a size: `1GiB`, `500MiB`, or a number of bytes.
type Bytes int64

// byteUnits are the units of sizes, each 1024 times the one before.
var byteUnits = []struct {
	name string
	size int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}}

// UnmarshalText reads a whole number, with a unit or without.
func (s *Bytes) UnmarshalText(b []byte) error {
	text, unit := strings.TrimSpace(string(b)), int64(1)

	for _, u := range byteUnits {
		if number, ok := strings.CutSuffix(text, u.name); ok {
			text, unit = strings.TrimSpace(number), u.size
		}
	}

	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > (1<<62)/unit {
		return errors.New("must be a size such as 1GiB or 500MiB")
	}

	*s = Bytes(n * unit)

	return nil
}
