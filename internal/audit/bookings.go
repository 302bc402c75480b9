package audit

// bookingChecks hold what customers and companies have bought against what they have paid (rules: bookings.seats-follow-state).
func bookingChecks() []check {
	return []check{
		bookingStatus(), bookingTerms(), campaignStatus(), tripSeats(), bookingPassengers(), cancellations(), cancelledShares(), checkIns(),
		passengerNames(), tripCancellations(),
	}
}

func bookingStatus() check {
	return check{
		needs: cancelledTable,
		rules: []Rule{{"booking-status", "A booking is CONFIRMED exactly while a PAID transaction of it is not refunded in full (a refund of " +
			"all that a gateway had left cancels it, too) and not all of its passengers are cancelled; its seats are held only while it is " +
			"CONFIRMED or waits for payment."}},
		sql: `
WITH paid AS (
    SELECT booking_id AS id, bool_or(refunded_amount < amount) AS kept, bool_or(refunded_amount > 0 AND EXISTS (
               SELECT FROM outside_refunds AS o WHERE o.payment_transaction_id = payment_transactions.id)) AS outside
    FROM payment_transactions WHERE status = 'PAID' AND booking_id IS NOT NULL GROUP BY booking_id),
gone AS (SELECT booking_id AS id, count(*) AS passengers FROM cancelled_passengers GROUP BY booking_id)
SELECT 'booking-status', 'booking', b.id,
       format('%s, seats %s, %s', b.status, CASE WHEN b.seats_held THEN 'held' ELSE 'free' END,
              CASE WHEN p.kept THEN 'paid' WHEN p.id IS NOT NULL THEN 'paid and refunded in full' ELSE 'not paid' END)
FROM bookings AS b LEFT JOIN paid AS p ON p.id = b.id LEFT JOIN gone AS g ON g.id = b.id
WHERE (b.status = 'CONFIRMED') <> (coalesce(p.kept, false) AND coalesce(g.passengers, 0) < jsonb_array_length(b.passengers))
        AND NOT (b.status = 'CANCELLED' AND coalesce(p.outside, false))
   OR (p.kept = false AND b.status <> 'CANCELLED')
   OR b.seats_held <> (b.status IN ('CONFIRMED', 'PENDING_PAYMENT'))`,
	}
}

func campaignStatus() check {
	return check{
		rules: []Rule{{"campaign-status", "A campaign is SCHEDULED, ACTIVE, PAUSED or ENDED exactly when it was paid, unless it is CANCELLED."}},
		sql: `
WITH paid AS (
    SELECT DISTINCT ad_campaign_id AS id FROM payment_transactions WHERE status = 'PAID' AND ad_campaign_id IS NOT NULL)
SELECT 'campaign-status', 'campaign', c.id, format('%s, %s', c.status, CASE WHEN p.id IS NULL THEN 'not paid' ELSE 'paid' END)
FROM ad_campaigns AS c LEFT JOIN paid AS p ON p.id = c.id
WHERE c.status <> 'CANCELLED' AND (c.status IN ('SCHEDULED', 'ACTIVE', 'PAUSED', 'ENDED')) <> (p.id IS NOT NULL)`,
	}
}

func tripSeats() check {
	return check{
		rules: []Rule{{"trip-seats", "The seats taken of a trip are those of its bookings that hold seats, and not more than it has."}},
		sql: `
WITH held AS (SELECT trip_id AS id, sum(seats) AS seats FROM public.bookings WHERE seats_held
    AND trip_id IN (SELECT id FROM trips) GROUP BY trip_id)
SELECT 'trip-seats', 'trip', t.id, format('%s of %s taken, bookings hold %s', t.seats_taken, t.capacity, coalesce(h.seats, 0))
FROM trips AS t LEFT JOIN held AS h ON h.id = t.id
WHERE t.seats_taken <> coalesce(h.seats, 0) OR t.seats_taken > t.capacity`,
	}
}
