package audit

// cancelledTable came with the cancellations of paid bookings.
const cancelledTable = "cancelled_passengers"

func bookingPassengers() check {
	return check{
		needs: cancelledTable,
		rules: []Rule{{"booking-passengers", "The seats of a booking are those of its passengers that are not cancelled; of one whose last " +
			"passengers were cancelled, those that it had before."}},
		sql: `
WITH gone AS (
    SELECT p.booking_id AS id, count(*) AS passengers, max(c.n) AS last
    FROM cancelled_passengers AS p JOIN cancellations AS c ON c.id = p.cancellation_id GROUP BY p.booking_id)
SELECT 'booking-passengers', 'booking', b.id,
       format('%s seats of %s passengers, of whom %s are cancelled', b.seats, jsonb_array_length(b.passengers), coalesce(g.passengers, 0))
FROM bookings AS b LEFT JOIN gone AS g ON g.id = b.id
LEFT JOIN cancellations AS l ON l.booking_id = b.id AND l.n = g.last AND g.passengers = jsonb_array_length(b.passengers)
WHERE b.seats <> coalesce(l.seats_before, jsonb_array_length(b.passengers) - coalesce(g.passengers, 0))`,
	}
}

// cancellations: a refund whose cancellation waits needs an approval that is not taken up.
func cancellations() check {
	return check{
		needs: cancelledTable,
		rules: []Rule{
			{"cancellation-passengers", "A cancellation that is DONE has cancelled its passengers, and no other has; before it so many were left " +
				"as earlier ones had not cancelled."},
			{"cancellation-refund", "What goes back for a cancellation was ordered with it: one refund of its payment and amount, by the policy " +
				"exactly when it says so; it is DONE unless that refund waits for its approval or did not get it."},
		},
		sql: `
WITH gone AS (
    SELECT cancellation_id AS id, array_agg(position ORDER BY position) AS positions FROM cancelled_passengers GROUP BY 1)
SELECT 'cancellation-passengers', 'booking', c.booking_id,
       format('%s of passengers %s, %s of %s; cancelled by it: %s', c.status, c.positions, c.seats, c.seats_before,
              coalesce(g.positions::text, 'none'))
FROM cancellations AS c JOIN bookings AS b ON b.id = c.booking_id LEFT JOIN gone AS g ON g.id = c.id
WHERE coalesce(g.positions, '{}') <> CASE c.status WHEN 'DONE' THEN c.positions ELSE '{}' END
   OR c.seats_before <> jsonb_array_length(b.passengers) - (
      SELECT coalesce(sum(e.seats), 0) FROM cancellations AS e WHERE e.booking_id = c.booking_id AND e.n < c.n AND e.status = 'DONE')
UNION ALL
SELECT 'cancellation-refund', 'booking', c.booking_id,
       format('%s by %s, %s; its refund: %s %s %s', c.status, c.refund_by, c.refund_amount, coalesce(f.refund_type, 'none'),
              f.amount, f.status)
FROM cancellations AS c JOIN bookings AS b ON b.id = c.booking_id LEFT JOIN refunds AS f ON f.id = c.refund_id
LEFT JOIN refund_approvals AS a ON a.refund_id = f.id
WHERE (f.id IS NULL) <> (c.refund_amount = 0)
   OR f.amount <> c.refund_amount OR f.payment_transaction_id <> c.payment_transaction_id OR f.booking_id <> c.booking_id
   OR (f.refund_type = 'POLICY') <> (c.refund_by = 'POLICY') OR f.policy_percent <> c.percent
   OR c.status <> CASE WHEN f.approval_pending THEN 'PENDING' WHEN a.decision IN ('REJECTED', 'EXPIRED') THEN 'VOID' ELSE 'DONE' END`,
	}
}

// cancelledShares takes out of a price, and out of a percentage of it, what the earlier cancellations have taken, one after the other, in
// whole halalas. What had gone back before is that of the refund's order; where nothing goes back there is none to compare with.
func cancelledShares() check {
	return check{
		needs: cancelledTable,
		rules: []Rule{{"cancellation-share", "What was paid for cancelled passengers is their share, half-up, of what earlier " +
			"cancellations had left of the price, and all of it for the last ones; what goes back is that share of the percentage of the price, " +
			"less what had gone back otherwise, as far as so much is left."}},
		sql: `
WITH RECURSIVE c AS MATERIALIZED (
    SELECT c.*, t.amount * 100 AS price, f.policy_given,
           row_number() OVER (PARTITION BY c.booking_id ORDER BY c.n) AS k
    FROM cancellations AS c JOIN payment_transactions AS t ON t.id = c.payment_transaction_id LEFT JOIN refunds AS f ON f.id = c.refund_id
    WHERE c.status <> 'VOID'),
left_over AS (
    SELECT c.id, c.booking_id, c.k, 1 AS at, c.price AS paid, div(2 * c.price * coalesce(c.percent, 0) + 100, 200) AS due,
           0::numeric AS counted
    FROM c
    UNION ALL
    SELECT l.id, l.booking_id, l.k, l.at + 1,
           l.paid - CASE WHEN e.seats = e.seats_before THEN l.paid ELSE div(2 * l.paid * e.seats + e.seats_before, 2 * e.seats_before) END,
           l.due - CASE WHEN e.seats = e.seats_before THEN l.due ELSE div(2 * l.due * e.seats + e.seats_before, 2 * e.seats_before) END,
           l.counted + e.refund_amount * 100 + CASE WHEN e.percent IS NULL THEN 0 ELSE greatest(0,
               CASE WHEN e.seats = e.seats_before THEN e.due_amount * 100
                    ELSE div(2 * e.due_amount * 100 * e.seats + e.seats_before, 2 * e.seats_before) END - e.refund_amount * 100) END
    FROM left_over AS l JOIN c AS e ON e.booking_id = l.booking_id AND e.k = l.at
    WHERE l.at < l.k),
x AS (
    SELECT c.*, CASE WHEN c.seats = c.seats_before THEN l.paid
                     ELSE div(2 * l.paid * c.seats + c.seats_before, 2 * c.seats_before) END AS paid,
           CASE WHEN c.percent IS NULL THEN 0 ELSE l.due END AS due,
           CASE WHEN c.percent IS NULL THEN c.refund_amount * 100 ELSE least(c.left_amount * 100, CASE WHEN c.seats = c.seats_before
                THEN greatest(0, c.due_amount - c.given_amount) * 100
                ELSE div(2 * greatest(0, c.due_amount - c.given_amount) * 100 * c.seats + c.seats_before, 2 * c.seats_before) END)
               END AS back,
           c.policy_given * 100 - l.counted AS given
    FROM c JOIN left_over AS l ON l.id = c.id AND l.at = c.k)
SELECT 'cancellation-share', 'booking', x.booking_id,
       format('%s of %s passengers at %s %%: paid %s of %s, due %s, given %s, left %s, back %s', x.seats, x.seats_before,
              coalesce(x.percent::text, 'no'), x.paid_amount, round(x.price / 100, 2), x.due_amount, x.given_amount, x.left_amount,
              x.refund_amount)
FROM x
WHERE x.paid_amount * 100 <> x.paid OR x.due_amount * 100 <> x.due OR x.refund_amount * 100 <> x.back
   OR x.policy_given IS NOT NULL
      AND (x.given_amount * 100 > greatest(0, x.given) OR x.left_amount * 100 <> x.price - x.policy_given * 100)`,
	}
}
