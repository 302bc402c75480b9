package failure_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"rihla/e2e/harness"
)

// remainsSQL is all that a booking or a campaign ($1) has left in the database, without ids and times.
const remainsSQL = `
WITH tx AS (SELECT * FROM payment_transactions WHERE $1::uuid IN (booking_id, ad_campaign_id))
SELECT concat_ws(' ', 'booking', status, seats, 'seats, held', seats_held, amount) FROM bookings WHERE id = $1
UNION ALL SELECT concat_ws(' ', 'campaign', status) FROM ad_campaigns WHERE id = $1
UNION ALL SELECT concat_ws(' ', 'trip', seats_taken) FROM trips WHERE id = (SELECT trip_id FROM bookings WHERE id = $1)
UNION ALL SELECT concat_ws(' ', 'transaction', kind, payment_method, status, failure_code, amount, refunded_amount, refund_reserved_amount) FROM tx
UNION ALL SELECT concat_ws(' ', 'line', kind, balance_status, gross_amount, platform_commission_amount, net_amount, refunded_amount)
	FROM financial_records WHERE $1 IN (booking_id, ad_campaign_id)
UNION ALL SELECT concat_ws(' ', 'transfer', lt.kind, regexp_replace(debit_account, '[0-9a-f-]{36}', 'ID'), 'to',
	regexp_replace(credit_account, '[0-9a-f-]{36}', 'ID'), lt.amount) FROM ledger_transfers AS lt JOIN tx ON tx.id = lt.transaction_id
UNION ALL SELECT concat_ws(' ', 'message', n.kind, n.channel, n.status) FROM notifications AS n JOIN tx ON tx.id = n.transaction_id
UNION ALL SELECT concat_ws(' ', 'incident', i.kind, i.status) FROM incidents AS i WHERE $1 IN (booking_id, ad_campaign_id)
UNION ALL SELECT concat_ws(' ', i.details ->> 'rule', 'does not hold:', count(*), 'incidents') FROM incidents AS i
	WHERE i.kind = 'AUDIT_DIFFERENCE' AND i.status = 'OPEN' GROUP BY i.details ->> 'rule'
UNION ALL SELECT concat_ws(' ', 'refund', r.refund_type, r.status, r.amount) FROM refunds AS r WHERE r.booking_id = $1
UNION ALL SELECT concat_ws(' ', 'cancellation', c.status, cardinality(c.positions), 'seats', c.refund_amount) FROM cancellations AS c
	WHERE c.booking_id = $1
UNION ALL SELECT concat_ws(' ', 'cancellation request', q.status, cardinality(q.positions), 'seats', q.refund_amount,
	CASE WHEN q.closed_at IS NULL THEN 'not closed' END) FROM cancellation_requests AS q WHERE q.booking_id = $1
UNION ALL SELECT concat_ws(' ', 'event not processed', e.type) FROM webhook_events AS e JOIN tx ON tx.id = e.transaction_id WHERE processed_at IS NULL
UNION ALL SELECT concat_ws(' ', 'id', id) FROM tx
UNION ALL SELECT concat_ws(' ', 'id', id) FROM refunds AS r WHERE r.booking_id = $1`

// remains are the lines of remainsSQL and what the gateway has of the same payments and refunds, in order.
func remains(ctx context.Context, s *harness.Stack, subject string) (string, error) {
	rows, err := s.DB.QueryContext(ctx, remainsSQL, subject)
	if err != nil {
		return "", err
	}
	defer rows.Close()

	var lines []string

	ours := map[string]bool{}

	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return "", err
		}

		if id, ok := strings.CutPrefix(line, "id "); ok {
			ours[id] = true
		} else {
			lines = append(lines, line)
		}
	}

	ledger := s.GatewayLedger()

	for _, c := range ledger.Checkouts {
		if ours[c.MerchantReference] {
			lines = append(lines, fmt.Sprint("at the gateway: checkout ", c.Status, " ", c.Amount, " refunded ", c.RefundedAmount))
		}
	}

	for _, r := range ledger.Refunds {
		if ours[r.MerchantReference] {
			lines = append(lines, fmt.Sprint("at the gateway: refund ", r.Status, " ", r.Amount))
		}
	}

	slices.Sort(lines)

	return strings.Join(lines, "\n"), rows.Err()
}

// unrest is in lines that say that something is still to come. A booking that was not paid may stay PENDING_PAYMENT.
var unrest = regexp.MustCompile(`(?m) PENDING( |$)|^event not processed|^cancellation request .* not closed$`)

// awaitRest waits until nothing is under way any more for the booking or campaign.
func awaitRest(ctx context.Context, s *harness.Stack, subject string) error {
	for {
		left, err := remains(ctx, s, subject)
		if err != nil {
			return err
		}

		if !unrest.MatchString(left) {
			return nil
		}

		if !pause(ctx, 20*time.Millisecond) {
			return fmt.Errorf("no rest within %s:\n%s", patience, left)
		}
	}
}
