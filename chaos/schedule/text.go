package schedule

import (
	"fmt"
	"strings"
	"time"
)

// String is the whole schedule, one line per thing that happens: what --list prints. Its words stay as they are (a probe is an errand
// there): TestKnownSchedule tells by them whether a seed still means the same.
func (s Schedule) String() string {
	var b strings.Builder

	fmt.Fprintf(&b, "schedule %d of seed %d\n", s.Number, s.Seed)

	for i, t := range s.Trips {
		fmt.Fprintf(&b, "           trip %d: %d seats of %s SAR\n", i+1, t.Capacity, t.Price)
	}

	for i, c := range s.Customers {
		fmt.Fprintf(&b, "%s customer %d %s\n", at(c.At), i+1, c)
	}

	for i, c := range s.Campaigns {
		fmt.Fprintf(&b, "%s advertiser %d: trip %d for %s SAR by %s through API %d, from day %d on, %s\n",
			at(c.At), i+1, c.Trip+1, c.Price, c.Method, c.API+1, c.StartsIn, c.Ending)
	}

	for i, e := range s.Probes {
		fmt.Fprintf(&b, "%s errand %d: %s (API %d)%s\n", at(e.At), i+1, e.Kind, e.API+1, e.where())
	}

	for _, c := range s.CallOffs {
		fmt.Fprintf(&b, "%s trip %d is called off by %s through API %d%s\n", at(c.At), c.Trip+1, c.By, c.API+1, c.paused())
	}

	for _, c := range s.Boardings {
		fmt.Fprintf(&b, "%s the passengers of trip %d are checked in through API %d%s\n", at(c.At), c.Trip+1, c.API+1, c.again())
	}

	for _, f := range s.Faults {
		fmt.Fprintf(&b, "%s %s\n", at(f.At), f)
	}

	return b.String()
}

func (c CallOff) paused() string {
	if c.Pause == 0 {
		return ""
	}

	return fmt.Sprintf(", and paused for %d ms", c.Pause.Milliseconds())
}

func (c Boarding) again() string {
	if !c.Again {
		return ""
	}

	return ", by two devices at once"
}

func at(d time.Duration) string { return fmt.Sprintf("  +%6d ms", d.Milliseconds()) }

// String says what the customer does.
func (c Customer) String() string {
	var b strings.Builder

	fmt.Fprintf(&b, "books %d seats of trip %d by %s through API %d, %s", c.Seats, c.Trip+1, c.Method, c.API+1, c.Ending)

	if c.Ending == Replaces || c.Ending == PaysBoth || c.Ending == DeclinedThenPays {
		fmt.Fprintf(&b, " (by %s)", c.Other)
	}

	fmt.Fprintf(&b, " after %d ms", c.Think.Milliseconds())

	if c.Twice {
		b.WriteString(", sends everything twice")
	}

	if c.Payout {
		b.WriteString(", is paid out")
	}

	for i, r := range c.Refunds {
		switch {
		case i == 0 && c.Parallel && len(c.Refunds) > 1:
			b.WriteString(", refunds at once:")
		case i == 0:
			b.WriteString(", refunds:")
		}

		switch {
		case r.Asks > 0:
			fmt.Fprintf(&b, " by passenger %d", r.Asks)
		case r.Policy:
			b.WriteString(" by the policy")
		case r.Percent == 0:
			b.WriteString(" the rest")
		default:
			fmt.Fprintf(&b, " %d %%", r.Percent)
		}

		fmt.Fprintf(&b, " (API %d)", r.API+1)
	}

	return b.String()
}

// where says which trip is moved where to.
func (e Probe) where() string {
	if e.Kind != MovesTrip {
		return ""
	}

	return fmt.Sprintf(", trip %d by %s", e.Trip+1, e.By)
}

// String says what breaks.
func (f Fault) String() string {
	parts := make([]string, len(f.Parts))
	for i, p := range f.Parts {
		parts[i] = string(p)
	}

	switch f.Kind {
	case Misbehaves:
		o := f.Order
		text := fmt.Sprintf("gateway: %s %s, %d times", o.Operation, o.Mode, o.Times)

		if o.DelayMS > 0 {
			text += fmt.Sprintf(", %d ms", o.DelayMS)
		}

		if o.Outcome != "" {
			text += ", then " + o.Outcome
		}

		return text
	case SlowGateway:
		return fmt.Sprintf("%s by %d ms for %d ms", f.Kind, f.Delay.Milliseconds(), f.For.Milliseconds())
	case ClockWrong:
		return fmt.Sprintf("%s of %s by %d ms, for %d ms", f.Kind, strings.Join(parts, ", "), f.Shift.Milliseconds(), f.For.Milliseconds())
	case ClockOverMidnight:
		return fmt.Sprintf("%s of %s, and %d ms more, for %d ms", f.Kind, strings.Join(parts, ", "), f.Shift.Milliseconds(), f.For.Milliseconds())
	case CutGateway, RefuseGateway, StallDatabase:
		return fmt.Sprintf("%s for %d ms", f.Kind, f.For.Milliseconds())
	case BreakConnections:
		return string(f.Kind)
	case Replace:
		end := "a stop"
		if f.Hard {
			end = "kill -9"
		}

		return fmt.Sprintf("%s %s by %s, after %s and %d ms", f.Kind, strings.Join(parts, ", "), f.Release, end, f.For.Milliseconds())
	default:
		text := fmt.Sprintf("%s of %s, for %d ms", f.Kind, strings.Join(parts, ", "), f.For.Milliseconds())
		if f.On != "" {
			text += ", the next moment " + string(f.On)
		}

		return text
	}
}
