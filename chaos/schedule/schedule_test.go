package schedule_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/chaos/schedule"
	"rihla/models"
)

func TestSameSeedSameSchedule(t *testing.T) {
	t.Parallel()

	for n := range 200 {
		once, again := schedule.New(7, n), schedule.New(7, n)
		require.Equal(t, once, again)
		require.Equal(t, once.String(), again.String())
	}
}

func TestOtherSeedOtherSchedule(t *testing.T) {
	t.Parallel()

	seen := map[string]bool{}

	for seed := range uint64(20) {
		for n := range 20 {
			seen[schedule.New(seed, n).String()] = true
		}
	}

	require.Len(t, seen, 400)
}

// TestEverythingHappens: within 100 schedules of the seed that CI runs every ending, every probe and every kind of failure comes up.
func TestEverythingHappens(t *testing.T) {
	t.Parallel()

	endings, probes, faults := map[schedule.Ending]int{}, map[schedule.ProbeKind]int{}, map[schedule.FaultKind]int{}
	callers, boardings, twice, paused := map[schedule.CallOffBy]int{}, 0, 0, 0
	killed, orders, moments := map[schedule.Part]int{}, map[string]int{}, map[schedule.Trigger]int{}

	for n := range 100 {
		s := schedule.New(1, n)

		for _, c := range s.Customers {
			endings[c.Ending]++
		}

		for _, e := range s.Probes {
			probes[e.Kind]++
		}

		for _, c := range s.CallOffs {
			callers[c.By]++

			if c.Pause > 0 {
				paused++
			}
		}

		for _, b := range s.Boardings {
			boardings++

			if b.Again {
				twice++
			}
		}

		for _, f := range s.Faults {
			faults[f.Kind]++

			if f.Kind == schedule.Kill {
				moments[f.On]++

				for _, p := range f.Parts {
					killed[p]++
				}
			}

			if f.Order != nil {
				orders[f.Order.Operation+" "+f.Order.Mode]++
			}
		}
	}

	require.Len(t, endings, 12)
	require.Len(t, probes, 10)
	require.Len(t, callers, 3)
	require.Positive(t, paused)
	require.Positive(t, twice)
	require.Less(t, twice, boardings)
	require.Len(t, faults, 10)
	require.Len(t, moments, 10)
	require.Len(t, killed, 6)
	require.GreaterOrEqual(t, len(orders), 20)
}

// TestKnownSchedule holds the way from a seed to its schedules: who changes it gives every seed that was ever reported
// another meaning, and has to say so in docs/reliability.md.
func TestKnownSchedule(t *testing.T) {
	t.Parallel()

	digest := sha256.New()
	for n := range 20 {
		digest.Write([]byte(schedule.New(1, n).String()))
	}

	require.Equal(t, "7891687a", hex.EncodeToString(digest.Sum(nil)[:4]))
}

// TestWithBackup: one failure more, the same each time, and nothing else; the schedule that it was made from stays as it was.
func TestWithBackup(t *testing.T) {
	t.Parallel()

	for n := range 50 {
		plain := schedule.New(7, n)
		before, once := plain.String(), plain.WithBackup()

		require.Equal(t, once, plain.WithBackup())
		require.Equal(t, before, plain.String())
		require.Len(t, once.Faults, len(plain.Faults)+1)
		require.Equal(t, 1, strings.Count(once.String(), string(schedule.RefuseGateway)))
	}
}

// TestWithUpgrade: processes of both kinds are replaced by both releases, by a stop and by a kill; the same each time, and nothing else.
func TestWithUpgrade(t *testing.T) {
	t.Parallel()

	seen := map[string]int{}

	for n := range 50 {
		plain := schedule.New(7, n)
		before, once := plain.String(), plain.WithUpgrade()

		require.Equal(t, once, plain.WithUpgrade())
		require.Equal(t, before, plain.String())

		replaced := 0

		for _, f := range once.Faults {
			if f.Kind == schedule.Replace {
				replaced++
				seen[string(f.Release)]++
				seen[strconv.FormatBool(f.Hard)]++
				seen[string(f.Parts[0])]++
			}
		}

		require.Len(t, once.Faults, len(plain.Faults)+replaced)
		require.GreaterOrEqual(t, replaced, 4)
	}

	require.Len(t, seen, 2+2+4)
}

// TestWith: everything that is paid is paid with something that is offered.
func TestWith(t *testing.T) {
	t.Parallel()

	cards := func(models.PaymentMethod, models.Money) models.PaymentMethod { return models.MethodCreditCard }

	for n := range 50 {
		s := schedule.New(7, n).With(cards)
		for _, c := range s.Customers {
			require.Equal(t, models.MethodCreditCard, c.Method)
			require.Equal(t, models.MethodCreditCard, c.Other)
		}

		for _, c := range s.Campaigns {
			require.Equal(t, models.MethodCreditCard, c.Method)
		}
	}
}
