package models

import "fmt"

// Words say in one language what the policy gives back, a line for each of its steps, most notice first.
func (p CancellationPolicy) Words(locale Locale) []string {
	steps := p.distinct()
	lines := make([]string, len(steps))

	for i, step := range steps {
		when := Label{AR: "في أي وقت قبل المغادرة", EN: "Any time before departure"}

		switch {
		case i == 0 && step.MinHours > 0:
			when = Label{
				AR: "قبل المغادرة " + withArabicHours(step.MinHours) + " أو أكثر",
				EN: englishHours(step.MinHours) + " or more before departure",
			}
		case i > 0 && step.MinHours > 0:
			when = Label{
				AR: fmt.Sprintf("قبل المغادرة بأقل من %s وحتى %s", arabicHours(steps[i-1].MinHours), arabicHours(step.MinHours)),
				EN: fmt.Sprintf("Less than %d and at least %s before departure", steps[i-1].MinHours, englishHours(step.MinHours)),
			}
		case i > 0:
			when = Label{
				AR: "قبل المغادرة بأقل من " + arabicHours(steps[i-1].MinHours),
				EN: "Less than " + englishHours(steps[i-1].MinHours) + " before departure",
			}
		}

		lines[i] = when.In(locale) + ": " + step.gives().In(locale)
	}

	return lines
}

// CancellationPolicy is the one of the moment at which the booking was made; today's where it has kept none.
func (b *Booking) CancellationPolicy(today CancellationPolicy) CancellationPolicy {
	var booked CancellationPolicy

	if b.BookedSchedule == nil || booked.UnmarshalText([]byte(*b.BookedSchedule)) != nil {
		return today
	}

	return booked
}

// distinct are the steps down to departure, those left out after which the next one gives as much.
func (p CancellationPolicy) distinct() (steps []CancellationTier) {
	all := append(CancellationPolicy{}, p...)
	if len(all) == 0 || all[len(all)-1].MinHours > 0 {
		all = append(all, CancellationTier{}) // with less notice than the last step nothing is paid back
	}

	for i, step := range all {
		if i+1 < len(all) && all[i+1].Percent == step.Percent {
			continue
		}

		steps = append(steps, step)
	}

	return steps
}

func (t CancellationTier) gives() Label {
	switch t.Percent {
	case WholePercent:
		return Label{AR: "يُسترد كامل المبلغ", EN: "the full amount is refunded"}
	case 0:
		return Label{AR: "لا يُسترد شيء", EN: "nothing is refunded"}
	default:
		return Label{AR: fmt.Sprintf("يُسترد %d%% من المبلغ", t.Percent), EN: fmt.Sprintf("%d%% is refunded", t.Percent)}
	}
}

func englishHours(n int) string {
	if n == 1 {
		return "1 hour"
	}

	return fmt.Sprintf("%d hours", n)
}

// withArabicHours is the count with the preposition before it, which is joined to a word and set apart from digits.
func withArabicHours(n int) string {
	hours := arabicHours(n)
	if hours[0] >= '0' && hours[0] <= '9' {
		return "بـ" + hours
	}

	return "ب" + hours
}

// arabicHours counts hours in the genitive.
func arabicHours(n int) string {
	const hundred, few, many = 100, 3, 10

	switch rest := n % hundred; {
	case n == 1:
		return "ساعة"
	case n == 2:
		return "ساعتين"
	case rest >= few && rest <= many:
		return fmt.Sprintf("%d ساعات", n)
	default:
		return fmt.Sprintf("%d ساعة", n)
	}
}
